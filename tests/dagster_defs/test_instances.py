"""Cycle tasks in Dagster: what is shown of them, the tags of their runs, and runs that are stopped."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from dagster import AssetKey, DagsterInstance, DagsterRunStatus, RunRequest
from dagster._core.definitions.repository_definition import RepositoryDefinition

from tests.dagster_defs.instance import evaluate, make_run, repository_of
from tests.dagster_defs.sample import location_of
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.dagster_defs.dispatch.steps import FORCED_AT, end_stopped
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.launch.stopped import FIRST_PAUSE
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.run import ALL_RUNS, RunStatus
from tidegate.scheduler.tick.tick import tick
from tidegate.spark_jobs import runner as spark_runner

pytestmark = pytest.mark.dagster

TASKS = """
app: night
timezone: Europe/Berlin
datasets:
  orders:
    {partitions: {cycle: day, start: 2023-01-01, timezone: Europe/Berlin}, format: parquet, path: landing}
  clean: {partitions: {cycle: day, start: 2023-01-01, timezone: Europe/Berlin}}
programs:
  clean: {run: programs.clean, reads: [orders], writes: [clean]}
tasks:
  feed: {type: source, dataset: orders, cycle: day, status: active}
  partner: {type: external, dataset: orders, cycle: day, status: active}
  clean:
    {program: clean, cycle: day, at: {time: "02:00"}, depends_on: [feed], args: {of: "{{ business_date }}"},
     status: active}
"""
MIDNIGHT = datetime.fromisoformat("2023-03-10T00:00:00+01:00")
KEY, YESTERDAY = "2023-03-10", "2023-03-09"
CLEAN = AssetKey(["night", "clean"])
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def night() -> ReferenceStore:
    """A store in which the tasks are deployed, at midnight."""
    return deployed(TASKS)


def deployed(text: str) -> ReferenceStore:
    """A store in which the app of a text is deployed, at midnight."""
    store = ReferenceStore()
    compiled = compile_files({"night.yaml": text.encode()})
    assert compiled.ok, compiled.diagnostics
    with store.transaction() as transaction:
        deploy(transaction, {"night": compiled.apps["night"].app}, MIDNIGHT, by=CLI)
    return store


def job_of(store: ReferenceStore, number: int = 0) -> Job:
    """The instance of the day that runs a program."""
    with store.reading() as reader:
        jobs = reader.jobs(schedules=["night/clean"])
    (found,) = [job for job in jobs if job.instance is not None and job.instance.number == number]
    return found


def requests(store: ReferenceStore, instance: DagsterInstance, now: datetime) -> list[RunRequest]:
    """What the dispatcher asks of Dagster."""
    evaluated = evaluate(instance, repository(store, now))
    return list(evaluated.run_requests or ())


def repository(store: ReferenceStore, now: datetime) -> RepositoryDefinition:
    return repository_of(location_of(store, now=now))


def act_on(store: ReferenceStore, action: Action, now: datetime) -> None:
    with store.transaction() as transaction:
        act(transaction, "night/clean", InstanceName(scheduled=KEY), action, now, CLI)


def test_sources_are_external_assets_and_a_task_is_the_asset_of_its_program(night: ReferenceStore) -> None:
    loaded = repository(night, MIDNIGHT)

    assert [each.name for each in loaded.schedule_defs] == ["tidegate_recover_commits"]
    graph = loaded.asset_graph
    assert graph.external_asset_keys == {AssetKey(["night", "orders"])}
    assert graph.get(CLEAN).parent_keys == {AssetKey(["night", "orders"])}
    definition = graph.get(CLEAN).partitions_def
    assert definition is not None and definition.has_partition_key(YESTERDAY)


def test_the_run_of_an_instance_has_its_times_as_tags(
    night: ReferenceStore, instance: DagsterInstance
) -> None:
    (request,) = requests(night, instance, MIDNIGHT + 2 * HOUR)

    assert request.partition_key == YESTERDAY
    own = {name: value for name, value in request.tags.items() if name.startswith("tidegate/")}
    assert own == {
        "tidegate/app": "night",
        "tidegate/schedule": "night/clean",
        "tidegate/program": "night/clean",
        "tidegate/job": job_of(night).id,
        "tidegate/attempt": "1",
        "tidegate/reason": f"{KEY}, business date {YESTERDAY}, 1 partition(s) of orders",
        "tidegate/task": "night/clean",
        "tidegate/scheduled": KEY,
        "tidegate/business_date": YESTERDAY,
        "tidegate/kind": "periodic",
        "tidegate/origin": "task",
        "tidegate/key": "2023-03-10",
    }


@pytest.mark.parametrize("writes", [", writes: [clean]", ""], ids=["a dataset", "nothing"])
def test_a_run_without_an_edge_says_so_as_a_tag_and_in_what_it_materialises(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch, writes: str
) -> None:
    written = PublishedPartition(dataset="clean", key=YESTERDAY, rows=1, bytes=1, files=1)
    monkeypatch.setattr(spark_runner, "run_program", lambda *_, **__: (written,) if writes else ())
    text = TASKS.replace("[feed]", "[{task: feed, period: previous}]").replace(", writes: [clean]", writes)
    store, now = deployed(text), MIDNIGHT + 2 * HOUR
    (request,) = requests(store, instance, now)
    wanted = set(request.asset_selection or ())

    result = (
        repository(store, now)
        .get_job("__ASSET_JOB")
        .get_subset(asset_selection=wanted)
        .execute_in_process(instance=instance, partition_key=request.partition_key, tags=request.tags)
    )

    line = "E-NO-EDGE: no edge to night/feed: the only one of the day before: 0 instances found, none picked"
    assert request.tags["tidegate/diagnostic"] == line
    (event,) = result.get_asset_materialization_events()
    assert event.materialization.asset_key in wanted
    assert event.materialization.metadata["tidegate/diagnostic"].value == line


def test_the_run_of_a_backfill_has_its_number(night: ReferenceStore, instance: DagsterInstance) -> None:
    with night.transaction() as transaction:
        wanted = Wanted(app="night", task="clean", from_="2023-03-01", to="2023-03-01")
        start_backfill(transaction, wanted, MIDNIGHT + HOUR, CLI)

    (request,) = requests(night, instance, MIDNIGHT + HOUR)

    assert request.partition_key == "2023-03-01"
    tags = ("tidegate/kind", "tidegate/backfill", "tidegate/scheduled", "tidegate/reason")
    assert [request.tags[each] for each in tags] == [
        "backfill", "1", "2023-03-02", "2023-03-02 of backfill 1, business date 2023-03-01"
    ]  # fmt: skip


def test_a_task_that_launches_nothing_asks_for_no_run(
    night: ReferenceStore, instance: DagsterInstance
) -> None:
    assert requests(night, instance, MIDNIGHT + HOUR) == []
    with night.reading() as reader:
        (feed,) = reader.jobs(schedules=["night/feed"])
    assert feed.state is JobState.SUCCEEDED


def launched(store: ReferenceStore, instance: DagsterInstance) -> str:
    """The run of the instance has begun, and is known to the engine; returns its id."""
    (request,) = requests(store, instance, MIDNIGHT + 2 * HOUR)
    run_id = make_run(instance, "clean", tags=dict(request.tags))
    seen(store, run_id, RunStatus.QUEUED, MIDNIGHT + 2 * HOUR)
    assert claim(store, job_of(store).id, 1, run_id, MIDNIGHT + 2 * HOUR).won
    return run_id


def seen(store: ReferenceStore, run_id: str, status: RunStatus, now: datetime, attempt: int = 1) -> None:
    job = job_of(store).id
    observation = RunObservation(
        run_id=run_id, program="night/clean", job=job, attempt=attempt, status=status, at=now
    )
    with store.transaction() as transaction:
        observe_runs(transaction, [observation], now)


class Canceller:
    """Replaces the cancelling of a run, which needs its process: remembers what it was asked to cancel."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._error = error

    def __call__(self, run_id: str) -> bool:
        self.asked.append(run_id)
        if self._error is not None:
            raise self._error
        return True


def look(store: ReferenceStore, instance: DagsterInstance, after: timedelta) -> list[str]:
    """The dispatcher looks a while after the instance was launched; returns what it says."""
    said: list[str] = []
    end_stopped(instance, store, {"night"}, MIDNIGHT + 2 * HOUR + after, said.append)
    return said


@pytest.mark.parametrize("again", [False, True], ids=["paused", "resumed"])
@pytest.mark.parametrize("error", [None, RuntimeError("no such process")])
def test_the_run_of_an_instance_that_was_paused_is_cancelled(
    night: ReferenceStore,
    instance: DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    again: bool,
    error: Exception | None,
) -> None:
    run_id = launched(night, instance)
    cancel = Canceller(error)
    monkeypatch.setattr(instance.run_coordinator, "cancel_run", cancel)
    assert look(night, instance, MINUTE) == []
    act_on(night, Action.PAUSE, MIDNIGHT + 2 * HOUR + MINUTE)
    if again:
        act_on(night, Action.RESUME, MIDNIGHT + 2 * HOUR + MINUTE)

    looks = (MINUTE, MINUTE, FIRST_PAUSE, 3 * FIRST_PAUSE, 100 * FIRST_PAUSE)
    said = [look(night, instance, after if after == MINUTE else MINUTE + after) for after in looks]

    why = f"night/clean {KEY} was paused or is run again: attempt 1 is over"
    assert said[0][0] == f"run {run_id} is cancelled: {why}"
    assert [bool(each) for each in said] == [True, False, True, True, False]
    assert cancel.asked == [run_id] * FORCED_AT
    run = instance.get_run_by_id(run_id)
    assert run is not None and run.status is DagsterRunStatus.CANCELED
    with night.reading() as reader:
        stops = [entry for entry in reader.journal(job=job_of(night).id) if entry.kind is EntryKind.STOPPED]
    assert [entry.data["tries"] for entry in stops[:FORCED_AT]] == [1, 2, 3]


@pytest.mark.parametrize("status", [RunStatus.CANCELLED, RunStatus.FAILED, RunStatus.SUCCEEDED])
def test_the_end_of_a_stopped_run_changes_nothing_and_its_slots_are_free_at_the_pause(
    night: ReferenceStore, instance: DagsterInstance, status: RunStatus
) -> None:
    run_id = launched(night, instance)
    act_on(night, Action.PAUSE, MIDNIGHT + 2 * HOUR + MINUTE)
    assert slots(night) == {ALL_RUNS: 0, "program:night/clean": 0}
    paused = job_of(night)

    seen(night, run_id, RunStatus.STARTED, MIDNIGHT + 3 * HOUR)
    seen(night, run_id, status, MIDNIGHT + 3 * HOUR)

    assert (paused.state, paused.attempt, paused.commit) == (JobState.PAUSED, 2, 2)
    assert job_of(night) == paused
    assert slots(night) == {ALL_RUNS: 0, "program:night/clean": 0}
    assert look(night, instance, 2 * HOUR) == []


def test_what_is_run_again_has_the_tag_of_its_own_commit(
    night: ReferenceStore, instance: DagsterInstance
) -> None:
    run_id = launched(night, instance)
    seen(night, run_id, RunStatus.SUCCEEDED, MIDNIGHT + 3 * HOUR)
    act_on(night, Action.RERUN, MIDNIGHT + 3 * HOUR)

    (request,) = requests(night, instance, MIDNIGHT + 3 * HOUR)

    job = job_of(night).id
    tags: Mapping[str, Any] = request.tags
    assert (request.run_key, tags["tidegate/attempt"]) == (f"{job}:2", "2")
    assert tags["tidegate/commit"] == f"{job}.r2"


def slots(store: ReferenceStore) -> Mapping[str, int]:
    tick(store, MIDNIGHT + 2 * HOUR + MINUTE)
    with store.reading() as reader:
        return reader.slots([ALL_RUNS, "program:night/clean"])
