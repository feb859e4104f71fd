"""What is left unfinished, and whose turn it is: a table of sequences and attempts."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tidegate.spark_jobs.commit.process import new_owner
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.repair.leftovers import FIRST_PAUSE_SECONDS, Leftovers, leftovers
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)
LEASE = timedelta(minutes=2)
PAUSE = timedelta(seconds=FIRST_PAUSE_SECONDS)


@pytest.fixture
def store() -> MemoryCommitStepStore:
    return MemoryCommitStepStore()


def put(store: MemoryCommitStepStore, commit: str, *datasets: str) -> None:
    token = store.begin(commit, datasets, until=NOW + LEASE)
    sequence = CommitSequence(id=commit, datasets=datasets, token=token, steps=(), result=())
    store.put(commit, datasets, token, encode_sequence(sequence))


def fail(store: MemoryCommitStepStore, commit: str, times: int, at: datetime = NOW) -> None:
    for _ in range(times):
        store.take(commit, "me", now=at, until=at + LEASE)
        store.fail(commit, "me", "no file system", at)


def test_nothing(store: MemoryCommitStepStore) -> None:
    assert leftovers(store, NOW) == Leftovers()


def test_one_that_nobody_works_on_is_due(store: MemoryCommitStepStore) -> None:
    put(store, "c1", "a/x", "a/y")

    assert leftovers(store, NOW) == Leftovers(due=("c1",), datasets=("a/x", "a/y"))


def test_those_of_other_projects_are_left_to_them(store: MemoryCommitStepStore) -> None:
    put(store, "c1", "theirs/x", "theirs/y")
    put(store, "c2", "theirs/x", "a/x")
    store.begin("c3", ["theirs/x"], until=NOW)

    found = leftovers(store, NOW + LEASE, {"theirs"})

    assert (found.due, found.datasets, found.dead_attempts) == (("c2",), ("theirs/x", "a/x"), ())
    assert expire_dead_attempts(store, NOW + LEASE, {"theirs"}) == ()


@pytest.mark.parametrize(
    ("owner", "later", "kind"),
    [
        (new_owner(), timedelta(0), "at_work"),
        ("elsewhere/1/another-machine/1/1/1", timedelta(0), "at_work"),
        ("elsewhere/1/another-machine/1/1/1", LEASE, "due"),
        (new_owner().replace(f"/{os.getpid()}/", "/4194305/"), timedelta(0), "due"),
    ],
    ids=["this process", "another machine", "whose lease has run out", "a process here that is gone"],
)
def test_one_that_is_owned(store: MemoryCommitStepStore, owner: str, later: timedelta, kind: str) -> None:
    put(store, "c1", "a/x")
    store.take("c1", owner, now=NOW, until=NOW + LEASE)

    assert getattr(leftovers(store, NOW + later), kind) == ("c1",)


@pytest.mark.parametrize(
    ("failures", "later", "kind"),
    [
        (1, PAUSE - timedelta(seconds=1), "paused"),
        (1, PAUSE, "due"),
        (3, 4 * PAUSE - timedelta(seconds=1), "paused"),
        (3, 4 * PAUSE, "due"),
        (BLOCKED_AFTER, timedelta(days=1), "blocked"),
    ],
)
def test_one_that_has_failed(
    store: MemoryCommitStepStore, failures: int, later: timedelta, kind: str
) -> None:
    put(store, "c1", "a/x")
    fail(store, "c1", failures)

    assert getattr(leftovers(store, NOW + later), kind) == ("c1",)


def test_one_that_this_version_cannot_read_waits_for_a_person(store: MemoryCommitStepStore) -> None:
    token = store.begin("c1", ["a/x"], until=NOW + LEASE)
    store.put("c1", ["a/x"], token, "of another version")

    assert leftovers(store, NOW) == Leftovers(blocked=("c1",))


def test_runs_whose_lease_has_run_out_are_dead(store: MemoryCommitStepStore) -> None:
    first = store.begin("c1", ["a/x"], until=NOW)
    store.begin("c2", ["a/x"], until=NOW + LEASE)

    assert leftovers(store, NOW).dead_attempts == (first,)
