"""Run requests: what a launch asks of Dagster, and what is refused before it can block the others."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from dagster import AssetKey, DagsterInstance, RunRequest

from tests.dagster_defs.run.test_program_op import Runner, add_job, execute
from tests.dagster_defs.sample import DAILY_BY_ORIGIN, NOW, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.dagster_defs.run.run_request import Invalid, run_request
from tidegate.domain.launch_input import MissingMember
from tidegate.domain.model import Dataset, Priority, Program
from tidegate.domain.partition_key import period_before
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.spark_jobs import runner as spark_runner

pytestmark = pytest.mark.dagster


def plan() -> AssetPlan:
    app = sample_app()
    matrix = Dataset(name="matrix", partitions=DAILY_BY_ORIGIN)
    app = msgspec.structs.replace(
        app,
        datasets={**app.datasets, "matrix": matrix},
        programs={**app.programs, "cube": Program(name="cube", run="m.f", writes=("matrix",))},
    )
    return AssetPlan(Plan(apps=(LoadedApp(app=app, revision=1),)))


def launch(program: str, *partitions: str, **changes: Any) -> LaunchRequest:
    request = LaunchRequest(
        job="flights.s-123",
        attempt=2,
        run_key="flights.s-123:2",
        schedule="flights/s",
        app="flights",
        launch=LaunchPlan(program=program, partitions=partitions),
        priority=Priority.HIGH,
        reason="3 partitions of raw",
    )
    return msgspec.structs.replace(request, **changes)


def made(request: LaunchRequest, of: AssetPlan | None = None) -> RunRequest:
    result = run_request(request, of or plan(), NOW)
    assert isinstance(result, RunRequest), result
    return result


def test_it_selects_the_programs_assets_under_the_attempts_key() -> None:
    request = made(launch("clean", "2023-03-09"))

    assert request.run_key == "flights.s-123:2"
    assert request.asset_selection == [AssetKey(["flights", "clean"])]
    assert request.partition_key == "2023-03-09"


def test_its_tags_say_whose_run_it_is_and_why() -> None:
    assert made(launch("clean", "2023-03-09")).tags == {
        "tidegate/app": "flights",
        "tidegate/schedule": "flights/s",
        "tidegate/program": "flights/clean",
        "tidegate/job": "flights.s-123",
        "tidegate/attempt": "2",
        "tidegate/reason": "3 partitions of raw",
        "tidegate/origin": "schedule",
        "dagster/priority": "10",
    }


def test_a_program_without_outputs_is_selected_by_its_own_asset() -> None:
    request = made(launch("notify"))

    assert (request.asset_selection, request.partition_key) == ([AssetKey(["flights", "notify"])], None)


def test_neighbouring_partitions_are_a_range() -> None:
    request = made(launch("clean", "2023-03-08", "2023-03-07", "2023-03-09"))

    assert request.partition_key is None
    assert request.tags["dagster/asset_partition_range_start"] == "2023-03-07"
    assert request.tags["dagster/asset_partition_range_end"] == "2023-03-09"


def test_a_manifest_with_gaps_is_one_run_whose_keys_stand_in_the_job() -> None:
    request = made(launch("clean", "2023-03-01", "2023-03-09"))

    assert request.partition_key == "2023-03-01"
    assert request.tags["tidegate/partitions"] == "2023-03-01, 2023-03-09"


def test_many_partitions_are_told_by_their_number() -> None:
    keys = [f"2023-02-{day:02}" for day in range(1, 28, 2)]

    assert made(launch("clean", *keys)).tags["tidegate/partitions"] == "14 keys, 2023-02-01 to 2023-02-27"


def test_a_key_of_two_dimensions_is_dagsters() -> None:
    request = made(launch("cube", "2023-03-09|JFK"))

    assert str(request.partition_key) == "2023-03-09|JFK"


@pytest.mark.parametrize(
    ("request_", "says", "final"),
    [
        (launch("clean", "2999-01-01"), "no partition 2999-01-01", False),
        (launch("clean", "2022-12-31"), "no partition 2022-12-31", True),
        (launch("clean", "yesterday"), "no partition yesterday", True),
        (launch("cube", "2023-03-09|ORD"), "no partition 2023-03-09|ORD", True),
        (launch("clean"), "set output_partition", True),
        (launch("report", "2023-03-09"), "no partitions", True),
        (launch("gone"), "reload the code location", False),
        (launch("clean", "2023-03-09", app="gone"), "reload the code location", False),
    ],
)
def test_what_dagster_would_refuse_is_refused_with_a_reason(
    request_: LaunchRequest, says: str, final: bool
) -> None:
    result = run_request(request_, plan(), NOW)

    assert isinstance(result, Invalid)
    assert says in result.message
    assert result.final is final


def test_what_dagsters_own_clock_does_not_know_yet_stays_behind() -> None:
    result = run_request(launch("clean", "2999-01-01"), plan(), datetime(2999, 1, 2, tzinfo=UTC))

    assert result == Invalid("Dagster has no partition 2999-01-01 of flights/clean yet")


def test_the_first_and_the_running_partition_are_dagsters_too() -> None:
    now = datetime.now(UTC)
    running = period_before(now + timedelta(days=1), DAILY_BY_ORIGIN.time)

    assert isinstance(run_request(launch("clean", "2023-01-01", running), plan(), now), RunRequest)


def test_a_long_reason_is_cut() -> None:
    tags = made(launch("notify", reason="x" * 1000)).tags

    assert len(tags["tidegate/reason"]) == 200


def test_a_run_has_the_tags_of_its_program_and_ours_over_them() -> None:
    app = sample_app()
    tagged = msgspec.structs.replace(app.programs["notify"], tags={"team": "core", "tidegate/job": "x"})
    app = msgspec.structs.replace(app, programs={**app.programs, "notify": tagged})

    tags = made(launch("notify"), AssetPlan(Plan(apps=(LoadedApp(app=app, revision=1),)))).tags

    assert tags["team"] == "core"
    assert tags["tidegate/job"] == "flights.s-123"


def test_its_tags_say_what_it_lacks_and_what_it_repairs() -> None:
    missing = MissingMember(kind="partitions", member="1", of="weather", keys=("2023-03-09",))
    early = launch("clean", "2023-03-09")
    plan = msgspec.structs.replace(early.launch, provisional=(missing,), repairs="flights.s-122")
    tags = made(msgspec.structs.replace(early, launch=plan)).tags
    assert tags["tidegate/provisional"] == "without weather 2023-03-09"
    assert tags["tidegate/repairs"] == "flights.s-122"


MISSING = MissingMember(kind="partitions", member="1", of="weather", keys=("2023-03-09",))


def add_provisional_job(store: ReferenceStore) -> tuple[str, dict[str, str]]:
    """Add a job that repairs another and lacks `MISSING`; return its id and the tags of its run."""
    tags = add_job(store, "2023-03-09")
    with store.transaction() as transaction:
        (job,) = transaction.jobs()
        assert job.launch is not None
        launch = msgspec.structs.replace(job.launch, provisional=(MISSING,), repairs="flights.s-0")
        transaction.put_jobs([msgspec.structs.replace(job, launch=launch)])
    return job.id, tags


def test_a_provisional_run_gets_what_is_missing_and_its_partitions_say_so_in_dagster(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner()
    monkeypatch.setattr(spark_runner, "run_program", runner)
    _, tags = add_provisional_job(store)

    result = execute(location_of(store), instance, "clean", partition="2023-03-09", tags=tags)

    ((_, _, params),) = runner.calls
    assert params.provisional == (MISSING,)
    (event,) = [each for each in result.all_events if each.is_step_materialization]
    metadata = event.step_materialization_data.materialization.metadata
    assert metadata["tidegate/provisional"].value == "without weather 2023-03-09"
    assert metadata["tidegate/repairs"].value == "flights.s-0"


def test_what_is_released_or_finished_for_a_provisional_run_says_so_in_dagster_too(
    store: ReferenceStore, instance: DagsterInstance
) -> None:
    job, _ = add_provisional_job(store)

    CommitEvents(lambda: store, lambda: NOW, instance).report(
        job, [PartitionFact("flights/clean", "2023-03-09", 5, 50)]
    )

    found = instance.get_latest_materialization_event(AssetKey(["flights", "clean"]))
    assert found is not None
    assert found.asset_materialization is not None
    metadata = found.asset_materialization.metadata
    assert metadata["rows"].value == 5
    assert metadata["tidegate/provisional"].value == "without weather 2023-03-09"
    assert metadata["tidegate/repairs"].value == "flights.s-0"
