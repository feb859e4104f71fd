"""The op of a program: who may run, with what, and what is reported as materialised."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from dagster import AssetKey, DagsterInstance, ExecuteInProcessResult

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import DAILY, NOW, deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.location import Location
from tidegate.domain.launch_input import Fired, UpstreamRun
from tidegate.domain.model import Dataset, Program
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.spark_jobs import runner as spark_runner
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.programs.params import Params

pytestmark = pytest.mark.dagster

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


class Runner:
    """Replaces `run_program`: remembers its calls, publishes what the run was launched for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, Params]] = []
        self.error: Exception | None = None
        self.errors: list[Exception] = []

    def __call__(
        self,
        spark: object,
        warehouse: object,
        commits: object,
        *,
        app: str,
        program: Program,
        datasets: Mapping[str, Dataset],
        params: Params,
        commit: str,
        events: object,
        elsewhere: frozenset[str],
        upstream: Mapping[str, tuple[str, ...]],
        judged: object,
    ) -> tuple[PublishedPartition, ...]:
        self.calls.append((program.name, commit, params))
        if self.errors:
            raise self.errors.pop(0)
        if self.error is not None:
            raise self.error
        return tuple(
            PublishedPartition(dataset=name, key=key, rows=len(key) + index, bytes=100 * (index + 1), files=1)
            for name in program.writes
            for index, key in enumerate(params.partitions if datasets[name].partitions else ("",))
        )


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    stand_in = Runner()
    monkeypatch.setattr(spark_runner, "run_program", stand_in)
    return stand_in


@pytest.fixture
def location(store: ReferenceStore) -> Location:
    return location_of(store)


def add_job(
    store: ReferenceStore, *partitions: str, program: str = "clean", **changes: Any
) -> dict[str, str]:
    """A job whose launch has been asked for; returns the tags of its run."""
    job = Job(
        id="flights.s-1",
        schedule="flights/s",
        state=JobState.PENDING_LAUNCH,
        opened_at=NOW,
        launch=LaunchPlan(
            program=program,
            partitions=partitions,
            manifest={"raw": ("2023-03-09|JFK",)},
            args={"strict": True},
            business_date="2023-03-09",
            key="2023-03-09",
            now=NOW,
            fired=(Fired(kind="cron", member=""),),
            upstream=(
                UpstreamRun(
                    id="x",
                    program="flights/land",
                    status="succeeded",
                    args={"v": 1},
                    outputs={"raw": ("2023-03-09|JFK",)},
                ),
            ),
        ),
    )
    with store.transaction() as transaction:
        transaction.put_jobs([msgspec.structs.replace(job, **changes)])
    return {
        "tidegate/job": "flights.s-1",
        "tidegate/attempt": "1",
        "tidegate/program": f"flights/{program}",
    }


def execute(
    location: Location,
    instance: DagsterInstance,
    *datasets: str,
    partition: str | None = None,
    tags: dict[str, str] | None = None,
    config: dict[str, Any] | None = None,
) -> ExecuteInProcessResult:
    """A run of some assets, in this process."""
    job = repository_of(location).get_job("__ASSET_JOB")
    chosen = job.get_subset(asset_selection={AssetKey(["flights", dataset]) for dataset in datasets})
    return chosen.execute_in_process(
        instance=instance, partition_key=partition, tags=tags, run_config=config, raise_on_error=False
    )


def materialised(result: ExecuteInProcessResult) -> list[tuple[str, str | None, object]]:
    """Dataset, partition and rows of every materialisation, in order."""
    found = []
    for event in result.all_events:
        if event.is_step_materialization:
            materialization = event.step_materialization_data.materialization
            facts = materialization.metadata
            rows = facts.get("rows")
            assert facts.get("dagster/row_count") == rows, "what Dagster's catalog draws"
            assert facts.get("dagster/size_bytes") == facts.get("bytes")
            assert facts.get("dagster/partition_row_count") == (rows if materialization.partition else None)
            found.append((materialization.asset_key.path[-1], materialization.partition, rows and rows.value))
    return found


def test_the_run_of_a_job_claims_it_and_does_what_was_decided(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    tags = add_job(store, "2023-03-09")

    result = execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    assert result.success
    ((program, commit, params),) = runner.calls
    assert (program, commit) == ("clean", "flights.s-1")
    assert params.partitions == ("2023-03-09",)
    assert params.manifest == {"raw": ("2023-03-09|JFK",)}
    assert (params.args, params.business_date, params.job) == ({"strict": True}, "2023-03-09", "flights.s-1")
    assert (params.schedule, params.key, params.now) == ("flights/s", "2023-03-09", NOW)
    assert params.fired == (Fired(kind="cron", member=""),)
    assert params.upstream == (
        UpstreamRun(
            id="x",
            program="flights/land",
            status="succeeded",
            args={"v": 1},
            outputs={"raw": ("2023-03-09|JFK",)},
        ),
    )
    assert materialised(result) == [("clean", "2023-03-09", 10)]
    with store.reading() as reader:
        (job,) = reader.jobs()
    assert (job.state, job.run_id) == (JobState.LAUNCHED, result.run_id)


def test_a_second_run_of_the_attempt_does_nothing_and_ends_well(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    tags = add_job(store, "2023-03-09")
    execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    second = execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    assert second.success
    assert materialised(second) == []
    assert len(runner.calls) == 1


def test_a_job_that_was_given_up_is_not_run(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    tags = add_job(store, "2023-03-09", state=JobState.DISCARDED)

    result = execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    assert result.success
    assert (materialised(result), runner.calls) == ([], [])


def test_a_manifest_with_gaps_writes_and_reports_exactly_its_keys(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    keys = ("2023-03-01", "2023-03-05", "2023-03-09")
    tags = add_job(store, *keys)

    result = execute(location, instance, "clean", partition=keys[0], tags=tags)

    assert runner.calls[0][2].partitions == keys
    assert materialised(result) == [("clean", key, 10 + index) for index, key in enumerate(keys)]
    assert instance.get_materialized_partitions(AssetKey(["flights", "clean"])) == set(keys)


def test_a_range_reports_each_partition_with_its_own_size(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    keys = ("2023-03-07", "2023-03-08", "2023-03-09")
    tags = {**add_job(store, *keys), RANGE_START: keys[0], RANGE_END: keys[-1]}

    result = execute(location, instance, "clean", tags=tags)

    assert materialised(result) == [("clean", key, 10 + index) for index, key in enumerate(keys)]


def test_an_output_that_a_person_has_abandoned_is_not_reported(
    location: Location, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_runner, "run_program", lambda *_, **__: ())
    for dataset, partition in (("clean", "2023-03-09"), ("report", None)):
        result = execute(location, instance, dataset, partition=partition)
        assert result.success and materialised(result) == []


def test_a_run_by_hand_writes_the_partitions_that_were_chosen(
    location: Location, instance: DagsterInstance, runner: Runner
) -> None:
    result = execute(location, instance, "clean", tags={RANGE_START: "2023-03-08", RANGE_END: "2023-03-09"})

    ((_, commit, params),) = runner.calls
    assert params.partitions == ("2023-03-08", "2023-03-09")
    assert commit == f"{result.run_id}.flights.clean"
    record = instance.get_run_record_by_id(result.run_id)
    assert record is not None
    assert (params.schedule, params.key, params.now) == (None, "", record.create_timestamp)
    assert [key for _, key, _ in materialised(result)] == ["2023-03-08", "2023-03-09"]


@pytest.mark.parametrize(
    ("config", "args"),
    [
        (None, {"strict": True}),
        ({"ops": {"clean": {"config": {"args": {"strict": False}}}}}, {"strict": False}),
    ],
    ids=["those of the schedule", "those of the launchpad"],
)
def test_the_arguments_of_a_run_by_hand(
    location: Location,
    instance: DagsterInstance,
    runner: Runner,
    config: dict[str, Any] | None,
    args: dict[str, Any],
) -> None:
    execute(location, instance, "clean", partition="2023-03-09", config=config)

    assert runner.calls[0][2].args == args


def test_references_in_the_arguments_of_a_run_by_hand_have_no_value_but_the_key(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    with store.transaction() as transaction:
        args = {"day": "{{ key }}", "keys": "{{ trigger.partitions }}", "run": "{{ trigger.run.id }}"}
        transaction.put_schedules(
            [
                msgspec.structs.replace(state, spec=msgspec.structs.replace(state.spec, args=args))
                for state in transaction.schedules()
            ]
        )

    execute(location, instance, "clean", partition="2023-03-09")

    assert runner.calls[0][2].args == {"day": "2023-03-09", "keys": [], "run": None}


def test_several_programs_can_be_materialised_together(
    location: Location, instance: DagsterInstance, runner: Runner
) -> None:
    result = execute(location, instance, "report", "notify")

    assert [(program, commit) for program, commit, _ in runner.calls] == [
        ("report", f"{result.run_id}.flights.report"),
        ("notify", f"{result.run_id}.flights.notify"),
    ]
    assert materialised(result) == [("report", None, 0), ("notify", None, None)]


def test_a_failed_jobs_run_can_be_executed_again(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    tags = add_job(store, "2023-03-09")
    runner.error = OutputError("rows outside the run's partitions", "filter them")
    first = execute(location, instance, "clean", partition="2023-03-09", tags=tags)
    runner.error = None

    again = execute(
        location,
        instance,
        "clean",
        partition="2023-03-09",
        tags={**tags, "dagster/parent_run_id": first.run_id, "dagster/root_run_id": first.run_id},
    )

    assert not first.success
    assert [key for _, key, _ in materialised(again)] == ["2023-03-09"]
    assert [commit for _, commit, _ in runner.calls] == ["flights.s-1", "flights.s-1"]


def test_an_expected_failure_is_told_without_our_traceback(
    location: Location, instance: DagsterInstance, runner: Runner
) -> None:
    runner.error = OutputError("clean: 3 rows lie outside 2023-03-09", "filter them")

    result = execute(location, instance, "clean", partition="2023-03-09")

    (failure,) = [event for event in result.all_events if event.is_step_failure]
    error = failure.step_failure_data.error
    assert error is not None
    assert "3 rows lie outside 2023-03-09; filter them" in error.to_string()


def test_outputs_with_and_without_partitions_may_share_a_program(
    store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    app = sample_app()
    both = Program(name="both", run="m.f", writes=("daily", "total"))
    datasets: Sequence[Dataset] = (Dataset(name="daily", partitions=DAILY), Dataset(name="total"))
    deploy(
        store,
        msgspec.structs.replace(
            app,
            programs={**app.programs, "both": both},
            datasets={**app.datasets, **{dataset.name: dataset for dataset in datasets}},
        ),
    )

    result = execute(location_of(store), instance, "daily", "total", partition="2023-03-09")

    assert result.success
    assert sorted(materialised(result), key=str) == [("daily", "2023-03-09", 10), ("total", None, 0)]
