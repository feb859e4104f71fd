"""The recovery job: when it is started, what it finishes, what it leaves, and what it removes."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    DagsterRunStatus,
    DefaultScheduleStatus,
    ExecuteInProcessResult,
    build_schedule_context,
)
from dagster._core.definitions.schedule_definition import ScheduleExecutionData
from dagster._core.test_utils import create_run_for_test, instance_for_test

from tests.dagster_defs.instance import failure, repository_of, status_of
from tests.dagster_defs.run.test_program_op import add_job
from tests.dagster_defs.sample import DAILY, NOW, location_of
from tests.doubles.dead_process import of_a_dead_process
from tests.doubles.reference.store import ReferenceStore
from tests.spark_jobs.staging import put, read_rows, stage_rows
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import RECOVERY
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.run import cleaning, recovery
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.owners import RunOwner, own
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.event import publish_event_id
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import RunStatus
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.parquet.output import staging_folder
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.dagster

CLEAN = DatasetRef(app="flights", name="clean", scheme=DAILY)
REPORT = DatasetRef(app="flights", name="report")
DAY = "2023-03-09"
LEASE = timedelta(minutes=2)


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterInstance]:
    """A Dagster instance on disk: a schedule's tick opens it by its reference."""
    with instance_for_test(temp_dir=str(tmp_path_factory.mktemp("dagster"))) as found:
        yield found


@pytest.fixture
def instance(disk: DagsterInstance) -> DagsterInstance:
    """The same, without the runs of the test before."""
    for run in disk.get_runs():
        disk.delete_run(run.run_id)
    return disk


@pytest.fixture
def location(store: ReferenceStore, tmp_path: Path) -> Location:
    return location_of(store, tmp_path)


@pytest.fixture
def commits(location: Location) -> CommitStepStore:
    return location.open_commits()


def leave(location: Location, commit: str, ref: DatasetRef = CLEAN, key: str = DAY, token: int = 1) -> None:
    """A run has put its sequence, and died."""
    table = stage_rows(location.warehouse, ref, {key: [token]}, commit=commit, token=token)
    put(location.open_commits(), sequence_of(commit, token, [table], reports_events=True))


def spoil(location: Location, commit: str, ref: DatasetRef = CLEAN, token: int = 1) -> None:
    """What was staged is lost."""
    location.warehouse.files.delete(staging_folder(ref.root(location.warehouse), commit, token))


def look(location: Location, instance: DagsterInstance) -> ScheduleExecutionData:
    """One tick of the schedule, as the scheduler daemon makes it."""
    repository = repository_of(location)
    context = build_schedule_context(
        instance=instance, scheduled_execution_time=NOW, repository_def=repository
    )
    return repository.get_schedule_def(RECOVERY).evaluate_tick(context)


def work(location: Location, instance: DagsterInstance) -> ExecuteInProcessResult:
    """One run of the job, in this process."""
    job = repository_of(location).get_job(RECOVERY)
    return job.execute_in_process(instance=instance, raise_on_error=False)


def said(instance: DagsterInstance, result: ExecuteInProcessResult) -> str:
    return "\n".join(entry.user_message for entry in instance.all_logs(result.run_id))


def test_it_runs_by_default(location: Location) -> None:
    schedule = repository_of(location).get_schedule_def(RECOVERY)

    assert schedule.default_status is DefaultScheduleStatus.RUNNING
    assert schedule.job_name == RECOVERY


def test_with_nothing_left_it_is_not_started_and_says_why(
    location: Location, instance: DagsterInstance
) -> None:
    assert look(location, instance).skip_message == "nothing is unfinished"


def test_what_a_dead_run_has_promised_is_finished_and_told(
    location: Location, instance: DagsterInstance, store: ReferenceStore
) -> None:
    leave(location, "c1")
    assert len(look(location, instance).run_requests or ()) == 1

    result = work(location, instance)

    assert result.success
    assert read_rows(location.warehouse, CLEAN) == {DAY: [1]}
    assert "finished commit c1 of flights/clean" in said(instance, result)
    with store.reading() as reader:
        assert len(reader.events(ids=[publish_event_id("c1", "flights/clean", DAY)])) == 1
    event = instance.get_latest_materialization_event(AssetKey(["flights", "clean"]))
    assert event is not None and event.asset_materialization is not None
    assert event.asset_materialization.partition == DAY
    assert event.asset_materialization.metadata["rows"].value == 1
    assert look(location, instance).skip_message == "nothing is unfinished"


def test_the_job_of_a_dead_run_has_succeeded_without_a_further_attempt(
    location: Location, instance: DagsterInstance, store: ReferenceStore
) -> None:
    add_job(store, DAY)
    assert claim(store, "flights.s-1", 1, "r1", NOW).won
    dead = RunObservation(
        run_id="r1",
        program="flights/clean",
        job="flights.s-1",
        attempt=1,
        status=RunStatus.FAILED,
        at=NOW,
        died=True,
    )
    with store.transaction() as transaction:
        observe_runs(transaction, [dead], NOW)
    leave(location, "flights.s-1")

    assert work(location, instance).success

    with store.reading() as reader:
        (job,) = reader.jobs(ids=["flights.s-1"])
        heard = reader.events(ids=["run:r1:succeeded"])
    assert (job.state, job.run_id, job.attempt) == (JobState.SUCCEEDED, "r1", 1)
    assert [event.key for event in heard] == ["run:flights/clean:succeeded"]


def test_one_that_fails_stops_no_other(
    location: Location, instance: DagsterInstance, commits: CommitStepStore
) -> None:
    leave(location, "c1")
    spoil(location, "c1")
    leave(location, "c2", REPORT, key="", token=2)

    result = work(location, instance)

    assert not result.success
    assert "commit c1 of flights/clean could not be finished" in failure(result)
    assert "neither the staged folder" in failure(result)
    assert read_rows(location.warehouse, REPORT) == {"": [2]}
    assert commits.list_unfinished() == ("c1",)


def test_one_that_failed_is_tried_again_later_and_one_that_failed_often_is_left(
    location: Location, instance: DagsterInstance, commits: CommitStepStore
) -> None:
    leave(location, "c1")
    # Counted by the machine's clock, which is ahead of the location's.
    commits.take("c1", "me", now=NOW, until=NOW + LEASE)
    commits.fail("c1", "me", "no file system", NOW)
    assert look(location, instance).skip_message == "1 waiting for a retry: c1"

    for _ in range(BLOCKED_AFTER - 1):
        commits.take("c1", "me", now=NOW, until=NOW + LEASE)
        commits.fail("c1", "me", "no file system", NOW)

    message = look(location, instance).skip_message
    assert message == "1 blocked, see `tidegate commits show`: c1"


def test_one_that_waits_behind_a_blocked_one_is_named(
    location: Location, instance: DagsterInstance, commits: CommitStepStore
) -> None:
    leave(location, "c1")
    for _ in range(BLOCKED_AFTER):
        commits.take("c1", "me", now=NOW, until=NOW + LEASE)
        commits.fail("c1", "me", "no file system", NOW)
    leave(location, "c2", key="2023-03-10", token=2)

    result = work(location, instance)

    assert result.success
    assert "flights/clean stays blocked: commit c1 has failed 5 times" in said(instance, result)
    assert commits.list_unfinished() == ("c1", "c2")


def test_what_its_run_is_finishing_is_left_to_it(
    location: Location, instance: DagsterInstance, commits: CommitStepStore
) -> None:
    leave(location, "c1")
    commits.take("c1", "elsewhere/1/another-machine/1/1/1", now=NOW, until=NOW + LEASE)

    assert look(location, instance).skip_message == "1 being finished: c1"
    assert work(location, instance).success
    assert commits.list_unfinished() == ("c1",)


def test_a_run_that_died_before_it_promised_anything_is_closed_and_its_staging_goes(
    location: Location, instance: DagsterInstance, commits: CommitStepStore
) -> None:
    token = commits.begin("c1", [CLEAN.id], until=NOW)
    stage_rows(location.warehouse, CLEAN, {DAY: [1]}, commit="c1", token=token)
    other = commits.begin("c2", [CLEAN.id], until=NOW + LEASE)
    stage_rows(location.warehouse, CLEAN, {DAY: [2]}, commit="c2", token=other)
    assert len(look(location, instance).run_requests or ()) == 1

    assert work(location, instance).success

    root = CLEAN.root(location.warehouse)
    assert not Path(staging_folder(root, "c1", token)).exists()
    assert Path(staging_folder(root, "c2", other)).exists()
    assert [attempt.token for attempt in commits.attempts()] == [other]
    assert look(location, instance).skip_message == "nothing is unfinished"


def test_staging_that_could_not_be_removed_is_tried_again(
    location: Location, instance: DagsterInstance, commits: CommitStepStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = commits.begin("c1", [CLEAN.id], until=NOW)
    stage_rows(location.warehouse, CLEAN, {DAY: [1]}, commit="c1", token=token)

    def unreachable(*_: object) -> None:
        raise OSError("the file system is gone")

    with monkeypatch.context() as broken:
        broken.setattr(recovery, "remove_orphans", unreachable)
        assert "the file system is gone" in failure(work(location, instance))

    assert len(look(location, instance).run_requests or ()) == 1, "the attempt is closed, its staging is not"
    assert work(location, instance).success
    assert not Path(staging_folder(CLEAN.root(location.warehouse), "c1", token)).exists()


def test_a_second_one_is_not_started_beside_it(location: Location, instance: DagsterInstance) -> None:
    leave(location, "c1")
    tags = {PROJECT: NO_PROJECT}
    create_run_for_test(instance, job_name=RECOVERY, status=DagsterRunStatus.STARTED, tags=tags)

    assert look(location, instance).skip_message == "a recovery run is active"


def test_a_dead_one_is_reported_and_does_not_count_as_active(
    location: Location, instance: DagsterInstance
) -> None:
    leave(location, "c1")
    tags = {PROJECT: NO_PROJECT}
    run = create_run_for_test(instance, job_name=RECOVERY, status=DagsterRunStatus.STARTED, tags=tags)
    owner = RunOwner(instance=storage_id(instance), process=of_a_dead_process(), until=NOW + LEASE)
    own(location.open_store(), run.run_id, owner)

    assert len(look(location, instance).run_requests or ()) == 1
    assert status_of(instance, run.run_id) is DagsterRunStatus.FAILURE


def test_no_spark_is_started_where_nothing_needs_it(
    location: Location, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(recovery, "session", started)
    leave(location, "c1")
    location.open_commits().begin("c2", [CLEAN.id], until=NOW)

    assert work(location, instance).success


def test_a_failure_of_io_may_have_left_staging_and_is_looked_into(
    location: Location, instance: DagsterInstance, commits: CommitStepStore
) -> None:
    """The run has ended by itself, so its attempt is closed. What it left belongs to no attempt."""
    token = commits.begin("c1", [CLEAN.id], until=NOW + LEASE)
    stage_rows(location.warehouse, CLEAN, {DAY: [1]}, commit="c1", token=token)
    commits.end(token)
    assert look(location, instance).skip_message == "nothing is unfinished"

    cleaning.request(location.open_store())

    assert len(look(location, instance).run_requests or ()) == 1
    assert work(location, instance).success
    assert not Path(staging_folder(CLEAN.root(location.warehouse), "c1", token)).exists()
    assert look(location, instance).skip_message == "nothing is unfinished"


def test_what_is_noted_while_somebody_looks_is_looked_for_again(store: ReferenceStore) -> None:
    cleaning.request(store)
    seen = cleaning.requests(store)
    cleaning.request(store)

    cleaning.finish(store, seen)
    assert cleaning.requests(store)

    cleaning.finish(store, cleaning.requests(store))
    assert not cleaning.requests(store)
