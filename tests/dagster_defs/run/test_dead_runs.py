"""Runs whose process has ended without a word: reported as failed, and started again by the engine."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from tests.dagster_defs.instance import end_dead, evaluate, repository_of, started, status_of
from tests.dagster_defs.run.test_program_op import Runner, add_job, execute
from tests.dagster_defs.sample import NOW, deploy, location_of, sample_app, sample_store
from tests.doubles.dead_process import of_a_dead_process
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import RECOVERY
from tidegate.dagster_defs.deployed.tags import LAUNCH, PROJECT
from tidegate.dagster_defs.dispatch import steps
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.run import run_lease
from tidegate.dagster_defs.run.dead_runs import SETTLED_SECONDS, START_SECONDS
from tidegate.domain.model import App
from tidegate.launcher.launcher import TidegateRunLauncher
from tidegate.scheduler.launch.owners import RunOwner, own, owners
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.job import JobState
from tidegate.spark_jobs import runner as spark_runner
from tidegate.spark_jobs.commit.lease import Heartbeat
from tidegate.spark_jobs.commit.process import ProcessState, this_process
from tidegate.spark_jobs.java import jvm

pytestmark = pytest.mark.dagster

UNTIL = NOW + timedelta(minutes=2)


def under_way(
    instance: DagsterInstance, store: ReferenceStore, tags: dict[str, str], job: str = "__ASSET_JOB"
) -> str:
    """A run that Dagster shows as started."""
    return started(instance, repository_of(location_of(store)), job, tags)


def owned(instance: DagsterInstance, process: str, until: datetime = UNTIL) -> RunOwner:
    """A process of a run of this instance."""
    return RunOwner(instance=storage_id(instance), process=process, until=until)


def look(
    instance: DagsterInstance,
    store: ReferenceStore,
    after: timedelta = timedelta(0),
    location: Location | None = None,
) -> list[str]:
    return end_dead(instance, location or location_of(store), NOW + after)


def test_the_job_of_a_dead_run_is_started_again(instance: DagsterInstance, store: ReferenceStore) -> None:
    run_id = under_way(instance, store, add_job(store, "2023-03-09"))
    assert claim(store, "flights.s-1", 1, run_id, NOW).won
    own(store, run_id, owned(instance, of_a_dead_process()))

    (said,) = look(instance, store)

    assert said.startswith(f"run {run_id} died: process ")
    assert status_of(instance, run_id) is DagsterRunStatus.FAILURE
    with store.reading() as reader:
        (job,) = reader.jobs()
        assert job.detail.endswith("has ended without a word")
        assert (job.state, job.raised) == (JobState.LAUNCHED, False)
    assert look(instance, store) == []
    with store.reading() as reader:
        assert owners(reader) == {}


def test_a_run_that_died_after_its_last_step_has_succeeded(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    location = location_of(store)
    run_id = under_way(instance, store, add_job(store, "2023-03-09"))
    assert claim(store, "flights.s-1", 1, run_id, NOW).won
    own(store, run_id, owned(instance, of_a_dead_process()))
    commits = location.open_commits()
    commits.put("flights.s-1", ["flights/clean"], commits.begin("flights.s-1", [], until=UNTIL), "steps")
    commits.remove("flights.s-1", "[]")

    look(instance, store, location=location)
    evaluate(instance, repository_of(location))

    with store.reading() as reader:
        (job,) = reader.jobs()
    assert (job.state, job.attempt) == (JobState.SUCCEEDED, 1)
    assert job.detail.startswith(f"recovery finished the publish of run {run_id}; the run died: process ")


def test_a_living_run_is_left_alone_even_if_its_lease_has_ended(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    run_id = under_way(instance, store, add_job(store, "2023-03-09"))
    own(store, run_id, owned(instance, this_process(), NOW))
    assert look(instance, store, timedelta(hours=1)) == []
    assert status_of(instance, run_id) is DagsterRunStatus.STARTED


def test_a_run_on_another_machine_is_dead_when_its_lease_ends(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    run_id = under_way(instance, store, add_job(store, "2023-03-09"))
    own(store, run_id, owned(instance, "elsewhere/1/m/b/s/9"))
    assert look(instance, store, timedelta(seconds=119)) == []
    assert len(look(instance, store, timedelta(seconds=120))) == 1
    assert status_of(instance, run_id) is DagsterRunStatus.FAILURE


@pytest.mark.parametrize(
    "what", ["the run of a job", "a run of the recovery job", "a run of another project"]
)
def test_a_run_that_no_process_has_taken_up(
    instance: DagsterInstance, store: ReferenceStore, what: str
) -> None:
    match what:
        case "the run of a job":
            run_id = under_way(instance, store, add_job(store, "2023-03-09"))
        case "a run of the recovery job":
            run_id = under_way(instance, store, {}, RECOVERY)
        case _:
            run_id = under_way(instance, store, {})
    record = instance.get_run_record_by_id(run_id)
    assert record is not None
    since = record.update_timestamp - NOW

    assert look(instance, store, since + timedelta(seconds=START_SECONDS - 1)) == []
    said = look(instance, store, since + timedelta(seconds=START_SECONDS + 1))

    ours = what != "a run of another project"
    assert len(said) == ours
    assert (status_of(instance, run_id) is DagsterRunStatus.FAILURE) is ours


class Knowing(TidegateRunLauncher):
    """A launcher that knows one thing of all runs."""

    def __init__(self, state: ProcessState) -> None:
        super().__init__()
        self._state = state

    def liveness(self, run: DagsterRun) -> tuple[ProcessState, str]:
        return self._state, "its run server has ended"


@pytest.mark.parametrize(
    ("state", "seconds", "died"),
    [
        (ProcessState.ENDED, SETTLED_SECONDS - 1, None),
        (ProcessState.ENDED, SETTLED_SECONDS + 1, "its run server has ended"),
        (ProcessState.ALIVE, START_SECONDS + 1, None),
        (ProcessState.UNKNOWN, START_SECONDS - 1, None),
        (
            ProcessState.UNKNOWN,
            START_SECONDS + 1,
            "no process has taken the run up within 120 s of its start",
        ),
    ],
)
def test_before_it_begins_a_run_is_what_its_launcher_knows_of_it(
    instance: DagsterInstance,
    store: ReferenceStore,
    monkeypatch: pytest.MonkeyPatch,
    state: ProcessState,
    seconds: int,
    died: str | None,
) -> None:
    monkeypatch.setattr(instance, "_run_launcher", Knowing(state))
    run_id = under_way(instance, store, {**add_job(store, "2023-03-09"), LAUNCH: "by it"})
    record = instance.get_run_record_by_id(run_id)
    assert record is not None

    said = look(instance, store, record.update_timestamp - NOW + timedelta(seconds=seconds))

    assert said == ([] if died is None else [f"run {run_id} died: {died}"])


@pytest.mark.parametrize("what", ["the run of a job", "a run of the recovery job"])
def test_runs_of_another_project_in_the_same_dagster_are_left_to_it(
    instance: DagsterInstance, store: ReferenceStore, what: str
) -> None:
    theirs = sample_store()
    tags = add_job(theirs, "2023-03-09") if what == "the run of a job" else {PROJECT: "theirs"}
    run_id = under_way(instance, theirs, tags, "__ASSET_JOB" if what == "the run of a job" else RECOVERY)

    assert look(instance, store, timedelta(days=10_000)) == []
    assert status_of(instance, run_id) is DagsterRunStatus.STARTED


def test_the_op_records_its_process_until_dagster_has_the_end(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_runner, "run_program", Runner())
    tags = add_job(store, "2023-03-09")
    result = execute(location_of(store), instance, "clean", partition="2023-03-09", tags=tags)
    assert result.success
    with store.reading() as reader:
        (owner,) = owners(reader).items()
    assert owner[0] == result.run_id
    assert owner[1].process == this_process()
    look(instance, store, timedelta(hours=1))
    with store.reading() as reader:
        assert owners(reader) == {}


def test_a_run_kills_its_jvm_that_hangs_for_a_whole_lease(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    class Recorded(Heartbeat):
        def __init__(self, *given: Any, **named: Any) -> None:
            made.append(named.get("hung"))
            super().__init__(*given, **named)

    monkeypatch.setattr(run_lease, "Heartbeat", Recorded)
    with run_lease.run_lease(location_of(store), instance, "run-1"):
        assert made == [jvm.kill]


def test_the_dispatcher_looks(instance: DagsterInstance, store: ReferenceStore) -> None:
    run_id = under_way(instance, store, {})
    own(store, run_id, owned(instance, of_a_dead_process()))
    evaluate(instance, repository_of(location_of(store)))
    assert status_of(instance, run_id) is DagsterRunStatus.FAILURE


def test_the_ticks_of_a_process_look_once_per_interval(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample, looks = sample_app(), list[datetime]()
    store = ReferenceStore()
    for app in ("flights", "trains", "ships"):
        deploy(store, App(name=app, datasets=sample.datasets, programs=sample.programs))
    repository = repository_of(location_of(store))
    monkeypatch.setattr(steps, "end_dead_runs", lambda *args: looks.append(args[3]))

    for tick in range(2):
        evaluate(instance, repository, log_key=str(tick))

    assert looks == [NOW]


def test_a_run_of_another_instance_that_shares_the_store_is_left_to_it(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    theirs = RunOwner(instance="another", process=of_a_dead_process(), until=NOW)
    own(store, "theirs", theirs)
    assert look(instance, store) == []
    with store.reading() as reader:
        assert owners(reader) == {"theirs": theirs}
