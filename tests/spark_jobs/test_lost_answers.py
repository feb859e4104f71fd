"""An answer of the commit store that was lost is looked up, whether or not the call had its effect."""

from collections.abc import Iterator

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.notes import (
    CONTEXT,
    WORLD,
    attempt,
    failures,
)
from tidegate.domain.commits import Put
from tidegate.spark_jobs.commit.publish import publish


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    WORLD.__init__()
    yield


class LosingStore(MemoryCommitStepStore):
    """Does what it is told, and loses the answer; or loses the question."""

    def __init__(self, *, loses: str, does_it: bool) -> None:
        super().__init__()
        self._loses = loses
        self._does_it = does_it

    def put(self, *given: object, **named: object) -> Put:
        """Puts, and is not heard."""
        if self._loses != "put":
            return super().put(*given, **named)  # pyright: ignore[reportArgumentType] -- handed through
        if self._does_it:
            super().put(*given, **named)  # pyright: ignore[reportArgumentType] -- handed through
        raise ConnectionError("the server is gone")

    def remove(self, sequence: str, result: str) -> None:
        """Removes, and is not heard."""
        if self._loses != "remove" or self._does_it:
            super().remove(sequence, result)
        if self._loses == "remove":
            raise ConnectionError("the server is gone")


def test_a_put_whose_answer_was_lost_is_looked_up() -> None:
    store = LosingStore(loses="put", does_it=True)
    sequence = attempt(store, "c1")
    assert publish(sequence, store, CONTEXT) == sequence.result
    assert WORLD.written == ["c1 1"]


def test_a_put_that_was_never_heard_has_promised_nothing_and_never_will() -> None:
    """What was staged can be thrown away: nobody can put it any more."""
    store = LosingStore(loses="put", does_it=False)
    sequence = attempt(store, "c1")
    with pytest.raises(ConnectionError):
        publish(sequence, store, CONTEXT)
    assert store.attempts() == () == store.list_unfinished()
    assert WORLD.written == []


def test_a_removal_whose_answer_was_lost_is_looked_up() -> None:
    store = LosingStore(loses="remove", does_it=True)
    sequence = attempt(store, "c1")
    assert publish(sequence, store, CONTEXT) == sequence.result


def test_a_removal_that_was_never_heard_is_left_to_the_next_run() -> None:
    store = LosingStore(loses="remove", does_it=False)
    with pytest.raises(ConnectionError):
        publish(attempt(store, "c1"), store, CONTEXT)
    assert failures(store, "c1") == (1, "ConnectionError: the server is gone")
