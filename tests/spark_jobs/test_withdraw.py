"""A sequence that meets a conflict is withdrawn: nothing more of it is published, and the work is free."""

from collections.abc import Iterator
from typing import ClassVar

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.commit.notes import CONTEXT
from tests.spark_jobs.staging import begin
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.commit.state import commit_to_publish
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.errors import CommitConflict, CommitUnknown

PUBLISHED: set[str] = set()
REFUSED: set[str] = set()
CONTESTED: set[str] = set()
"""The tables that others have changed since the run began."""
TOO_LATE: set[str] = set()
"""The tables into which another process publishes the same commit before they refuse it."""


@pytest.fixture(autouse=True)
def tables() -> Iterator[None]:
    for held in (PUBLISHED, REFUSED, CONTESTED, TOO_LATE):
        held.clear()
    yield


@step_kind("test_table")
class Table(Value, kw_only=True):
    """Publishes into a table of a name."""

    effect: ClassVar[Effect] = Effect.PUBLISHES

    name: str
    repeatable: bool = True

    def verify(self, context: CommitContext) -> Verified:
        if self.name in PUBLISHED:
            return DONE
        return unknown("the table refuses it", refused=True) if self.name in REFUSED else NOT_DONE

    def execute(self, context: CommitContext) -> None:
        conflict = self.conflict(context)
        if conflict is not None:
            raise conflict
        PUBLISHED.add(self.name)

    def conflict(self, context: CommitContext) -> CommitConflict | None:
        return CommitConflict(f"{self.name} has changed") if self.name in CONTESTED else None

    def refuse(self, context: CommitContext) -> None:
        if self.name in TOO_LATE:
            PUBLISHED.add(self.name)
        if self.name not in PUBLISHED:
            REFUSED.add(self.name)

    def describe(self) -> str:
        return f"publish {self.name}"


def sequence_of(store: MemoryCommitStepStore, *steps: Table) -> CommitSequence:
    token = begin(store, "c", ["app/a"])
    result = (PublishedPartition(dataset="a", key="", rows=1, bytes=1, files=1),)
    return CommitSequence(id="c", datasets=("app/a",), token=token, steps=steps, result=result)


def put(store: MemoryCommitStepStore, *steps: Table) -> CommitSequence:
    sequence = sequence_of(store, *steps)
    assert store.put("c", sequence.datasets, sequence.token, encode_sequence(sequence)) == "stored"
    return sequence


def test_the_run_ends_with_the_conflict_and_its_next_attempt_has_the_next_id() -> None:
    store = MemoryCommitStepStore()
    CONTESTED.add("second")
    with pytest.raises(CommitConflict, match="second has changed"):
        publish(sequence_of(store, Table(name="first"), Table(name="second")), store, CONTEXT)
    assert sorted(PUBLISHED) == ["first"]
    assert sorted(REFUSED) == ["second"]
    (record,) = store.abandoned()
    assert (record.commit, record.note) == ("c", "withdrawn: second has changed")
    assert commit_to_publish("c", store) == "c~2"


def test_recovery_withdraws_it_and_goes_on() -> None:
    store = MemoryCommitStepStore()
    put(store, Table(name="first"))
    CONTESTED.add("first")
    assert recover(["app/a"], store, CONTEXT) == ()
    assert (store.list_unfinished(), store.was_abandoned("c")) == ((), True)


def test_a_withdrawal_that_was_interrupted_is_completed() -> None:
    store = MemoryCommitStepStore()
    put(store, Table(name="first"), Table(name="second"))
    REFUSED.add("second")
    assert recover(["app/a"], store, CONTEXT) == ()
    assert sorted(PUBLISHED) == ["first"]
    assert store.was_abandoned("c")


def test_what_would_be_published_twice_is_left_to_a_person() -> None:
    store = MemoryCommitStepStore()
    put(store, Table(name="first", repeatable=False), Table(name="second"))
    CONTESTED.add("second")
    with pytest.raises(CommitUnknown, match="cannot be repeated, because this is published: publish first"):
        recover(["app/a"], store, CONTEXT)
    assert (REFUSED, store.list_unfinished()) == (set(), ("c",))


def test_what_another_process_has_published_meanwhile_stays_published() -> None:
    store = MemoryCommitStepStore()
    sequence = put(store, Table(name="first"))
    CONTESTED.add("first")
    TOO_LATE.add("first")
    assert recover(["app/a"], store, CONTEXT) == ("c",)
    assert store.result("c") is not None and sequence.result
    assert not store.was_abandoned("c")
