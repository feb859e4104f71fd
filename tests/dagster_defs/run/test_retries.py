"""Failures that may pass are tried again within the run; others end it at once."""

from dataclasses import replace
from pathlib import Path

import pytest
from dagster import DagsterInstance
from py4j.protocol import Py4JNetworkError

from tests.dagster_defs.run.test_program_op import Runner, add_job, execute, materialised
from tests.dagster_defs.sample import location_of
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.reference.store import ReferenceStore
from tests.doubles.wired import wired
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.run import cleaning, program_op
from tidegate.dagster_defs.run.failure_text import failure_text
from tidegate.scheduler.store import patience
from tidegate.scheduler.store.error import StoreAway
from tidegate.spark_jobs import runner as spark_runner
from tidegate.spark_jobs.errors import CommitConflict, CommitFailed, CommitFenced, OutputError
from tidegate.spark_jobs.java import jvm

pytestmark = pytest.mark.dagster


class Finished(MemoryCommitStepStore):
    """A store in which every commit is finished."""

    def result(self, sequence: str) -> str | None:
        return "[]"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    stand_in = Runner()
    monkeypatch.setattr(spark_runner, "run_program", stand_in)
    monkeypatch.setattr(program_op, "RETRY_WAIT_SECONDS", 0)
    return stand_in


@pytest.fixture
def location(store: ReferenceStore) -> Location:
    return location_of(store)


@pytest.mark.parametrize(
    ("error", "runs"),
    [
        (CommitConflict("another run has read raw meanwhile"), 3),
        (CommitFenced("the attempt was abandoned"), 3),
        (ConnectionResetError("the name node went away"), 3),
        (StoreAway("the server is restarted"), 3),
        (OutputError("rows outside the run's partitions"), 1),
        (CommitFailed("step 2 is not done"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_what_may_pass_is_tried_three_times(
    location: Location, instance: DagsterInstance, runner: Runner, error: Exception, runs: int
) -> None:
    runner.error = error

    result = execute(location, instance, "clean", partition="2023-03-09")

    assert not result.success
    assert len(runner.calls) == runs
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert failure.step_failure_data.user_failure_data is not None
    assert failure.step_failure_data.user_failure_data.description == failure_text(error, Path.cwd())


@pytest.mark.parametrize(
    "error", [Py4JNetworkError("Answer from Java side is empty"), CommitFailed("step 2 is not done")]
)
def test_a_run_whose_jvm_has_ended_is_tried_again_and_says_so(
    location: Location,
    instance: DagsterInstance,
    runner: Runner,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    monkeypatch.setattr(jvm, "has_ended", lambda: True)
    runner.error = error

    result = execute(location, instance, "clean", partition="2023-03-09")

    assert len(runner.calls) == 3
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    said = str(failure.step_failure_data.user_failure_data)
    assert f"the JVM of Spark has ended: {type(error).__name__}" in said
    assert "spark.driver.memory" in said


@pytest.mark.parametrize(
    ("error", "jvm_ended", "died"),
    [
        (CommitFailed("step 2 is not done"), True, True),
        (StoreAway("the server is restarted"), False, True),
        (CommitFailed("step 2 is not done"), False, False),
    ],
    ids=["its JVM", "its store", "itself"],
)
def test_a_run_that_has_lost_its_jvm_or_its_store_at_every_try_has_not_raised(
    location: Location,
    store: ReferenceStore,
    instance: DagsterInstance,
    runner: Runner,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    jvm_ended: bool,
    died: bool,
) -> None:
    """The engine starts its job again, as after the death of a process."""
    monkeypatch.setattr(jvm, "has_ended", lambda: jvm_ended)
    runner.error = error

    result = execute(location, instance, "clean", partition="2023-03-09", tags=add_job(store, "2023-03-09"))

    assert not result.success
    with store.reading() as reader:
        (job,) = reader.jobs()
        (*_, entry) = reader.journal(job=job.id)
    assert (entry.kind, entry.data.get("died", False), job.raised) == ("failure", died, not died)


def test_a_store_that_is_away_when_the_run_begins_and_when_it_claims_its_job_is_waited_for(
    store: ReferenceStore, instance: DagsterInstance, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    calls: list[str] = []

    def lost_at_times(method: str) -> None:
        calls.append(method)
        if method == "transaction" and calls.count(method) in (1, 3):
            raise StoreAway("the server is restarted")

    location = replace(location_of(store), open_store=lambda: wired(store, before=lost_at_times))
    tags = add_job(store, "2023-03-09")

    result = execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    assert result.success
    assert len(runner.calls) == 1


@pytest.mark.parametrize(
    ("error", "noted"),
    [(ConnectionResetError("the name node went away"), True), (OutputError("rows outside"), False)],
)
def test_a_failure_of_io_has_orphaned_staging_looked_for(
    location: Location, instance: DagsterInstance, runner: Runner, error: Exception, noted: bool
) -> None:
    runner.error = error

    execute(location, instance, "clean", partition="2023-03-09")

    assert bool(cleaning.requests(location.open_store())) is noted


def test_a_step_that_is_retried_keeps_its_commit_and_its_claim(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    tags = add_job(store, "2023-03-09")
    runner.errors = [CommitConflict("another run has read raw meanwhile")]

    result = execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    assert result.success
    assert [commit for _, commit, _ in runner.calls] == ["flights.s-1", "flights.s-1"]
    assert materialised(result) == [("clean", "2023-03-09", 10)]


def test_a_run_that_repeats_nothing_says_so(
    location: Location, store: ReferenceStore, instance: DagsterInstance, runner: Runner
) -> None:
    tags = add_job(store, "2023-03-09")
    finished = Finished()
    location = replace(location, open_commits=lambda: finished)

    result = execute(location, instance, "clean", partition="2023-03-09", tags=tags)

    said = [entry.user_message for entry in instance.all_logs(result.run_id)]
    assert any("commit flights.s-1 is already published; skipping the run" in line for line in said)
