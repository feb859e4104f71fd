"""Jobs of a project that does not know Tidegate, as programs: launched by the host, and how they end."""

import time
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterEventType, DagsterInstance, DagsterRunStatus

from tests.dagster_defs.instance import dies_between_event_and_row
from tests.existing.world import Acme, host_of, served
from tidegate.dagster_defs.host.host import Host
from tidegate.dagster_defs.ingest.intake import ON_ITS_WAY
from tidegate.scheduler.launch.obstacles import obstacles
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.dagster

T = TypeVar("T")

YAML = """
app: core
datasets:
  orders: {partitions: {cycle: day, start: 2026-01-01}}
  days: {partitions: {cycle: day, start: 2026-01-01}}
  by_region: {partitions: {day: {cycle: day, start: 2026-01-01}, region: [eu, us]}}
programs:
  load:
    job: load_region
    location: acme
    config: {ops: {load: {config: {region: "{{ args.region }}", rows: 7, note: "{{ args.note }}"}}}}
    tags: {team: tidal}
  report: {job: nightly_report, partitions: {cycle: day, start: 2026-01-01}}
  orders: {job: orders_job, writes: [orders]}
  demand: {job: demand_job, partitions: {cycle: day, start: 2026-01-01}}
  regions: {job: region_job, partitions: {day: {cycle: day, start: 2026-01-01}, region: [eu, us]}}
  slow: {job: load_region, timeout: 1h, config: {ops: {load: {config: {region: slow}}}}}
  gone: {job: no_such_job}
  selection:
    assets: 'key:"raw/orders" or key:"acme/core/demand"'
    partitions: {cycle: day, start: 2026-01-01}
  ranged: {assets: 'key:"raw/orders"', partitions: {cycle: day, start: 2026-01-01}}
  nothing: {assets: 'key:"flat" and key:"raw/orders"'}
  mixed: {assets: 'key:"flat" or key:"by_region"'}
  external: {assets: 'key:"landed"'}
schedules:
  load: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: eu, note: by hand}, status: active}
  fails: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: nowhere, note: ""}, status: active}
  report: {program: report, trigger: {cron: "0 0 1 1 *"}, status: active}
  orders: {program: orders, trigger: {cron: "0 0 1 1 *"}, status: active}
  regions:
    {program: regions, trigger: {partitions: {dataset: by_region}}, for_each: partition, status: active}
  slow: {program: slow, trigger: {cron: "0 0 1 1 *"}, status: active}
  gone: {program: gone, trigger: {cron: "0 0 1 1 *"}, status: active}
  selection:
    {program: selection, trigger: {partitions: {dataset: orders}}, for_each: partition, status: active}
  ranged: {program: ranged, trigger: {partitions: {dataset: days, count: 2}}, status: active}
  selected_days: {program: selection, trigger: {partitions: {dataset: days, count: 2}}, status: active}
  nothing: {program: nothing, trigger: {cron: "0 0 1 1 *"}, status: active}
  mixed: {program: mixed, trigger: {cron: "0 0 1 1 *"}, status: active}
  external: {program: external, trigger: {cron: "0 0 1 1 *"}, status: active}
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    with served(tmp_path_factory.mktemp("existing"), YAML) as project:
        yield project


@pytest.fixture(scope="module")
def host(acme: Acme) -> Iterator[Host]:
    with host_of(acme) as host:
        yield host


def looping(acme: Acme, host: Host, job: Job, states: frozenset[JobState] = FINISHED) -> Job:
    """Loop the host until a job is in one of some states."""
    return acme.reaches(job, states, host.loop)


def until(acme: Acme, host: Host, what: str, look: Callable[[], Collection[T]]) -> T:
    """Loop the host until there is something to see, and return the first of it."""
    return next(iter(acme.until(what, lambda: (host.loop(), look())[1])))


def test_a_job_of_others_is_launched_with_its_config_and_tags_and_its_end_is_that_of_our_job(
    acme: Acme, host: Host
) -> None:
    ended = looping(acme, host, acme.trigger("load"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    assert (run.job_name, run.status) == ("load_region", DagsterRunStatus.SUCCESS)
    assert run.remote_job_origin is not None
    assert run.remote_job_origin.location_name == "acme"
    assert {name: run.tags[name] for name in ("team", "owner", "dagster/max_retries")} == {
        "team": "tidal",
        "owner": "acme",
        "dagster/max_retries": "0",
    }
    assert (acme.notes / "loaded").read_text().splitlines() == [f"eu 7 by hand {run.run_id}"]


def test_a_failed_run_has_failed_with_the_first_step_failure_and_is_not_repeated(
    acme: Acme, host: Host
) -> None:
    ended = looping(acme, host, acme.trigger("fails"))

    assert (ended.state, ended.reason, ended.attempt) == (JobState.FAILED, Reason.F_RUN, 1)
    assert ended.detail == "step load: ValueError: there is no region nowhere"
    assert len(acme.runs_of(ended)) == 1


def test_without_config_a_partitioned_job_has_the_config_of_its_partition(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("report", "2026-03-09"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    assert run.tags["dagster/partition"] == "2026-03-09"
    assert f"eu 1 2026-03-09 {run.run_id}" in (acme.notes / "loaded").read_text().splitlines()


def test_two_dimensions_have_a_tag_each(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("regions", "2026-03-09|eu"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    found = {name: value for name, value in run.tags.items() if name.startswith("dagster/partition")}
    assert found == {
        "dagster/partition": "2026-03-09|eu",
        "dagster/partition/day": "2026-03-09",
        "dagster/partition/region": "eu",
    }


def test_no_such_job_is_a_dead_letter_at_once(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("gone"))

    assert (ended.state, ended.reason) == (JobState.FAILED, Reason.F_LAUNCH)
    assert ended.detail.startswith("no location of the workspace has a job no_such_job")


def test_a_location_that_is_down_holds_no_slot_and_its_job_starts_when_it_is_back(
    acme: Acme, host: Host
) -> None:
    assert acme.acme is not None
    acme.acme.stop()

    acme.until("the obstacle", lambda: (host.loop(), _obstacles(acme))[1])
    waiting = looping(acme, host, acme.trigger("load"), frozenset({JobState.PENDING_CONSTRAINT}))
    assert waiting.reason is Reason.W_LOCATION
    assert "its server does not answer" in str(_obstacles(acme))
    with acme.store.reading() as reader:
        assert reader.slots(["program:core/load"]) == {"program:core/load": 0}

    acme.start_acme()
    ended = looping(acme, host, waiting)

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    assert len(acme.runs_of(ended)) == 1


def _obstacles(acme: Acme) -> object:
    with acme.store.reading() as reader:
        return obstacles(reader, "core")


class Died(BaseException):
    """The end of a process at a statement."""


@pytest.mark.parametrize(
    ("statement", "moment", "runs"),
    [("create_run", "before", 0), ("submit_run", "before", 1), ("submit_run", "after", 1)],
)
def test_a_host_that_dies_before_or_after_the_creation_of_a_run_leaves_one_run(
    statement: str, moment: str, runs: int, acme: Acme, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = getattr(type(acme.instance), statement)

    def die(*given: Any, **named: Any) -> None:
        if moment == "after":
            call(*given, **named)
        raise Died

    job = acme.trigger("load")
    with monkeypatch.context() as crash:
        crash.setattr(type(acme.instance), statement, die)
        with pytest.raises(Died):
            looping(acme, host, job)
    assert len(acme.runs_of(job)) == runs

    ended = looping(acme, host, job)

    assert (ended.state, ended.attempt, len(acme.runs_of(job))) == (JobState.SUCCEEDED, 1, 1)


@pytest.mark.parametrize(("schedule", "key"), [("load", ""), ("selection", "2026-04-01")])
def test_a_host_that_dies_between_the_event_of_a_launch_and_the_row_of_the_run_launches_it_again(
    schedule: str, key: str, acme: Acme, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = acme.trigger(schedule, key)
    with monkeypatch.context() as crash:
        dies_between_event_and_row(acme.instance, crash, Died)
        with pytest.raises(Died):
            looping(acme, host, job)
    (run,) = acme.runs_of(job)
    assert run.status is DagsterRunStatus.NOT_STARTED
    last = acme.instance.all_logs(run.run_id)[-1].dagster_event
    assert last is not None and last.event_type_value in ON_ITS_WAY

    ended = looping(acme, host, job)

    assert (ended.state, ended.attempt, len(acme.runs_of(job))) == (JobState.SUCCEEDED, 1, 1)


def test_a_run_that_ended_before_it_began_is_launched_again_and_is_not_an_attempt(
    acme: Acme, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(instance: DagsterInstance, run_id: str, _workspace: object) -> None:
        run = instance.get_run_by_id(run_id)
        assert run is not None
        instance.report_run_failed(run, "its location was down")

    job = acme.trigger("load")
    with monkeypatch.context() as down:
        down.setattr(type(acme.instance), "submit_run", lose)
        looping(acme, host, job, frozenset({JobState.PENDING_LAUNCH, JobState.LAUNCHED}))
        until(acme, host, "the lost run", lambda: [each for each in acme.runs_of(job) if each.is_finished])

    ended = looping(acme, host, job)

    assert (ended.state, ended.attempt) == (JobState.SUCCEEDED, 1)
    assert [run.status.value for run in acme.runs_of(job)] == ["SUCCESS", "FAILURE"]


def test_a_selection_is_one_run_of_its_assets_and_their_checks(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("selection", "2026-03-09"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    assert run.asset_selection == {AssetKey(["raw", "orders"]), AssetKey(["acme", "core", "demand"])}
    assert run.tags["dagster/partition"] == "2026-03-09"
    checks = acme.instance.get_records_for_run(
        run.run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION
    ).records
    assert len(checks) == 1


def test_several_keys_are_one_run_only_where_every_asset_takes_a_range(acme: Acme, host: Host) -> None:
    days = "2026-03-09", "2026-03-10"
    for day in days:
        acme.instance.report_runless_asset_event(AssetMaterialization(["core", "days"], partition=day))
    ranged = looping(acme, host, until(acme, host, "ranged", lambda: acme.jobs("ranged")))
    refused = looping(acme, host, until(acme, host, "selected_days", lambda: acme.jobs("selected_days")))

    assert ranged.state is JobState.SUCCEEDED, (ranged, acme.said)
    (run,) = acme.runs_of(ranged)
    ends = run.tags["dagster/asset_partition_range_start"], run.tags["dagster/asset_partition_range_end"]
    assert ends == days
    assert (refused.state, refused.reason, acme.runs_of(refused)) == (JobState.FAILED, Reason.F_LAUNCH, [])
    assert "acme/core/demand" in refused.detail and "for_each: partition" in refused.detail


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("nothing", "`or`"),
        ("mixed", "the assets of a run have the same partitions"),
        ("external", "which no code makes"),
    ],
)
def test_a_selection_that_no_run_can_have_is_a_dead_letter(
    schedule: str, said: str, acme: Acme, host: Host
) -> None:
    ended = looping(acme, host, acme.trigger(schedule))

    assert (ended.state, ended.reason) == (JobState.FAILED, Reason.F_LAUNCH)
    assert said in ended.detail


def test_a_run_of_others_is_an_external_run_of_its_job_and_of_who_selects_an_asset_of_it(
    acme: Acme, host: Host
) -> None:
    host.loop()
    before = acme.external_runs("core/selection")
    run = acme.launch_in_acme("demand_job", {"dagster/partition": "2026-03-11"})

    until(acme, host, "the external run", lambda: acme.external_runs("core/selection") - before)
    assert {each.partition("/")[0] for each in acme.external_runs("core/selection") - before} == {run}
    assert run in {each.partition("/")[0] for each in acme.external_runs("core/demand")}
    assert acme.external_runs("core/ranged") == acme.external_runs("core/report") == set()


def test_a_long_run_is_not_declared_dead_and_one_over_its_timeout_has_failed(acme: Acme, host: Host) -> None:
    job = looping(acme, host, acme.trigger("slow"), frozenset({JobState.LAUNCHED}))
    run = until(acme, host, "its start", lambda: acme.started(job))

    acme.after = timedelta(minutes=40)
    for _ in range(6):
        host.loop()
        time.sleep(1)
    assert (acme.job(job.id).state, acme.started(job)) == (JobState.LAUNCHED, [run])

    acme.after = timedelta(minutes=61)
    ended = looping(acme, host, job)
    assert (ended.state, ended.reason, ended.attempt) == (JobState.FAILED, Reason.F_RUN, 1)
    assert "longer than the timeout of 1h" in ended.detail
