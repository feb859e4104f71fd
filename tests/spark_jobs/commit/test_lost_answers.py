"""An answer of the commit store that was lost is looked up, whether or not the call had its effect."""

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.wired import gone, wired
from tests.spark_jobs.commit.notes import (
    CONTEXT,
    WORLD,
    attempt,
    failures,
)
from tests.spark_jobs.commit.notes import empty_world as empty_world
from tidegate.spark_jobs.commit.publish import publish


def test_a_put_whose_answer_was_lost_is_looked_up() -> None:
    store = wired(MemoryCommitStepStore(), after=gone("put"))
    sequence = attempt(store, "c1")
    assert publish(sequence, store, CONTEXT) == sequence.result
    assert WORLD.written == ["c1 1"]


def test_a_put_that_was_never_heard_has_promised_nothing_and_never_will() -> None:
    """What was staged can be thrown away: no run can put it any more."""
    store = wired(MemoryCommitStepStore(), before=gone("put"))
    sequence = attempt(store, "c1")
    with pytest.raises(ConnectionError):
        publish(sequence, store, CONTEXT)
    assert store.attempts() == () == store.list_unfinished()
    assert WORLD.written == []


def test_a_removal_whose_answer_was_lost_is_looked_up() -> None:
    store = wired(MemoryCommitStepStore(), after=gone("remove"))
    sequence = attempt(store, "c1")
    assert publish(sequence, store, CONTEXT) == sequence.result


def test_a_removal_that_was_never_heard_is_left_to_the_next_run() -> None:
    store = wired(MemoryCommitStepStore(), before=gone("remove"))
    with pytest.raises(ConnectionError):
        publish(attempt(store, "c1"), store, CONTEXT)
    assert failures(store, "c1") == (1, "ConnectionError: the server is gone")
