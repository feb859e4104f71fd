"""The fence of a job: what an instance's run may still publish once it was paused, or is run again."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.store.commits.sequences import LEASE, NOON
from tests.worlds.by import CLI
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.work_of_job import commit_id
from tidegate.scheduler.store.commits import watermarks
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore

DAILY = """
  nightly: {program: p, cycle: day, at: {time: "02:00"}, retries: {max: 1}, status: active}
"""
KEY = "2026-03-10"
A_WHILE = 0.5
"""Long enough for a writer that is not held up, and a wait for each test of one that is."""
SECONDS_MAX = 30


class Night(TaskWorld):
    """A daily instance in a database, and the commits of its runs."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(DAILY)
        self.store = store
        self.redeploy("00:00", DAILY)
        self.commits = SqlCommitStepStore(store.engine)

    @property
    def nightly(self) -> Job:
        return self.instance("nightly", KEY)

    def runs(self, clock: str) -> tuple[str, int]:
        """The instance is launched, and its run begins; the commit id of the run, and its token."""
        self.tick(clock)
        (launched,) = self.launch_all(clock)
        assert launched == self.nightly.id
        commit = commit_id(self.nightly.id, self.nightly.commit)
        return commit, self.commits.begin(commit, ["a/out"], until=NOON + LEASE)

    def puts(self, run: tuple[str, int]) -> str:
        commit, token = run
        return self.commits.put(commit, ["a/out"], token, "steps")

    def does(self, clock: str, action: Action) -> None:
        self.act(clock, "nightly", KEY, action)


@pytest.fixture
def night(sql_store: SqlStore) -> Night:
    return Night(sql_store)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def test_a_run_that_goes_on_puts_its_sequence(night: Night) -> None:
    assert night.puts(night.runs("02:00")) == "stored"


def test_a_run_whose_instance_was_paused_never_publishes(night: Night) -> None:
    run = night.runs("02:00")
    night.does("02:05", Action.PAUSE)

    assert night.puts(run) == "over"

    assert night.commits.list_unfinished() == ()
    night.does("02:10", Action.RESUME)
    assert night.puts(run) == "over"


def test_after_a_resume_the_next_run_publishes_under_an_id_of_its_own(night: Night) -> None:
    old = night.runs("02:00")
    night.does("02:05", Action.PAUSE)
    night.does("02:10", Action.RESUME)
    new = night.runs("02:10")

    assert new[0] == f"{old[0]}.r2"
    assert (night.puts(old), night.puts(new)) == ("over", "stored")
    assert night.commits.list_unfinished() == (new[0],)


def test_what_was_put_before_the_pause_is_finished_and_published_again_by_the_next_run(night: Night) -> None:
    old = night.runs("02:00")
    assert night.puts(old) == "stored"
    night.does("02:05", Action.PAUSE)
    night.commits.remove(old[0], "published")
    night.does("02:10", Action.RESUME)
    new = night.runs("02:10")

    assert night.commits.result(new[0]) is None
    assert night.puts(new) == "stored"


def test_a_rerun_of_a_success_is_another_commit_and_the_old_one_is_over(night: Night) -> None:
    old = night.runs("02:00")
    night.end("02:05", night.nightly.id)
    assert night.nightly.state is JobState.SUCCEEDED

    night.does("02:10", Action.RERUN)

    assert night.puts(old) == "over"
    assert night.puts(night.runs("02:10")) == "stored"


def test_a_retry_of_the_engine_is_the_same_work(night: Night) -> None:
    old = night.runs("02:00")
    night.end("02:05", night.nightly.id, "failed")
    new = night.runs("02:05")

    assert (new[0], night.nightly.attempt) == (old[0], 2)
    assert (night.puts(new), night.puts(old)) == ("stored", "known")


def test_a_sequence_that_names_no_job_is_not_fenced(night: Night) -> None:
    for commit in ("run-1.a.p", "run-1.a.p.r2", "a.nightly-0123456789ab.r7~2"):
        token = night.commits.begin(commit, ["a/out"], until=NOON + LEASE)
        assert night.commits.put(commit, ["a/out"], token, "steps") == "stored"


def test_a_put_waits_for_a_pause_that_is_about_to_commit(night: Night, pool: ThreadPoolExecutor) -> None:
    run = night.runs("02:00")
    with night.store.transaction() as transaction:
        act(transaction, "a/nightly", InstanceName(scheduled=KEY), Action.PAUSE, at("02:05"), CLI)
        putting = pool.submit(night.puts, run)
        assert not _done(putting)

    assert putting.result(SECONDS_MAX) == "over"
    assert night.commits.list_unfinished() == ()


def test_a_pause_waits_for_a_put_that_has_read_the_job(
    night: Night, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = night.runs("02:00")
    has_read, goes_on = threading.Event(), threading.Event()
    promise = watermarks.promise_moves

    def held(*arguments: Any) -> None:
        has_read.set()
        assert goes_on.wait(SECONDS_MAX)
        promise(*arguments)

    monkeypatch.setattr(watermarks, "promise_moves", held)
    putting = pool.submit(night.puts, run)
    assert has_read.wait(SECONDS_MAX)
    pausing = pool.submit(night.does, "02:05", Action.PAUSE)
    assert not _done(pausing)
    goes_on.set()

    assert putting.result(SECONDS_MAX) == "stored"
    pausing.result(SECONDS_MAX)
    assert night.nightly.state is JobState.PAUSED
    assert night.commits.list_unfinished() == (run[0],)


def _done(future: Future[Any]) -> bool:
    """Whether something that must wait is done after a while."""
    try:
        future.result(A_WHILE)
    except TimeoutError:
        return False
    return True
