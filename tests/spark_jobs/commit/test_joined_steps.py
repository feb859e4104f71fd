"""Steps in a row that are executed together: the watermarks of many parts, in one transaction."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import event

from tidegate.domain.commits import NewWatermark
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import finish, in_rows
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence, watermark_resource
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.files.filesystem import LocalFiles

BOTH = ("app/load", "app/landed")
PARTS = [f"part {number}" for number in range(300)]
LATER = datetime(9999, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlCommitStepStore]:
    opened = open_sql_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield SqlCommitStepStore(opened.engine)
    opened.close()


def moves(*numbers: int, parts: list[str] = PARTS) -> tuple[SetWatermark, ...]:
    return tuple(
        SetWatermark(consumer=BOTH[0], source=BOTH[1], part=part, number=number, position="p", commit="c")
        for number in numbers
        for part in parts
    )


def put(store: SqlCommitStepStore, *steps: SetWatermark) -> CommitSequence:
    datasets = (watermark_resource(*BOTH),)
    token = store.begin("c", datasets, until=LATER)
    sequence = CommitSequence(id="c", datasets=datasets, token=token, steps=steps, result=())
    noted = [(step.consumer, step.source, step.part, step.number) for step in steps]
    assert store.put("c", datasets, token, encode_sequence(sequence), noted) == "stored"
    return sequence


def context(store: SqlCommitStepStore) -> CommitContext:
    return CommitContext(files=LocalFiles(), watermarks=store)


def test_steps_of_one_kind_in_a_row_go_together() -> None:
    one, two, three = moves(1, parts=["a", "b", "c"])
    clean = DeleteStaging(folder="/none")

    rows = list(in_rows((clean, clean, one, two, clean, three)))

    assert rows == [(1, (clean,)), (2, (clean,)), (3, (one, two)), (5, (clean,)), (6, (three,))]


def test_however_many_watermarks_move_there_is_one_transaction(store: SqlCommitStepStore) -> None:
    sequence = put(store, *moves(1))
    statements: list[str] = []
    event.listen(
        store._engine, "before_cursor_execute", lambda *args: statements.append(args[2].partition(" (")[0])
    )

    finish(sequence, store, context(store))

    assert {mark.number for mark in store.watermarks(*BOTH).values()} == {1}
    assert len(store.watermarks(*BOTH)) == len(PARTS)
    assert statements.count("INSERT INTO commit_watermarks") == 1
    assert statements.count("INSERT INTO commit_tokens") <= 4, "take, move, remove"


def test_watermarks_that_have_moved_are_left_alone(store: SqlCommitStepStore) -> None:
    """A process of an older version moved them one by one, and died."""
    sequence = put(store, *moves(1))
    store.set_watermarks([NewWatermark((*BOTH, part, 1), "p", "c") for part in PARTS[:100]])
    assert store.set_watermark((*BOTH, PARTS[0], 2), "later", "other")

    finish(sequence, store, context(store))

    marks = store.watermarks(*BOTH)
    assert (marks[PARTS[0]].number, marks[PARTS[1]].number, marks[PARTS[-1]].number) == (2, 1, 1)
    assert store.result("c") is not None


def test_one_that_another_commit_has_moved_stops_all(store: SqlCommitStepStore) -> None:
    sequence = put(store, *moves(1))
    assert store.set_watermark((*BOTH, PARTS[7], 1), "by hand", "other")

    with pytest.raises(CommitUnknown, match=r"step 8 of 300 .*part 7 was moved by commit other"):
        finish(sequence, store, context(store))

    assert set(store.watermarks(*BOTH)) == {PARTS[7]}
