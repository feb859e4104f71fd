"""A reader of SQL looks nothing up twice, and sees the store at one instant all the same.

A writer sees what it writes: it reads again what it has written to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.crashes.statements import listening
from tests.worlds.samples import app, at, event, job, schedule
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.expected import EXPECTED_DATA
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.store]


@contextmanager
def statements(store: SqlStore) -> Iterator[list[str]]:
    """The statements of queries that the store executes meanwhile."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT"):
            found.append(statement)

    with listening(store.engine, note):
        yield found


@pytest.fixture
def filled(sql_store: SqlStore) -> SqlStore:
    with sql_store.transaction() as transaction:
        transaction.put_records(APPS, [app("a"), app("b")])
        transaction.put_schedules([schedule("a/s"), schedule("b/s")])
        transaction.put_jobs([job("j"), job("k", "b/s")])
    return sql_store


def test_what_was_looked_up_by_name_is_not_read_again(filled: SqlStore) -> None:
    with filled.reading() as reader, statements(filled) as read:
        for _ in range(2):
            assert [each.name for each in reader.records(APPS, name=["a"])] == ["a"]
            assert [each.ref for each in reader.schedules(refs={"b/s", "a/s"})] == ["a/s", "b/s"]
            assert [each.id for each in reader.jobs(ids=("k",))] == ["k"]
            assert reader.jobs(ids=["unknown"]) == ()
            assert [each.name for each in reader.records(APPS)] == ["a", "b"]
            assert reader.records(APPS, name=()) == ()
        assert len(read) == 6
        assert [each.id for each in reader.jobs(ids=["j"])] == ["j"], "another name is another look-up"
        assert len(read) == 7


def test_a_look_up_of_part_of_the_names_is_one_of_its_own(filled: SqlStore) -> None:
    with filled.reading() as reader:
        assert len(reader.jobs(ids=["j", "k"])) == 2
        assert reader.jobs(ids=["j", "k"], schedules=["b/s"]) == reader.jobs(ids=["k"])
        assert reader.jobs(ids=["j", "k"], apps=["a"]) == reader.jobs(ids=["j"])
        assert reader.jobs(ids=["j", "k"], states=[]) == ()
        assert len(reader.jobs(ids=["j", "k"], limit=1)) == 1
        assert reader.schedules(refs=["a/s", "b/s"], app="b") == reader.schedules(refs=["b/s"])
        assert reader.schedules(refs=["a/s"], kind="partitions") == ()
        assert len(reader.jobs()) == 2 and len(reader.schedules()) == 2 and len(reader.records(APPS)) == 2


def test_long_lists_are_read_each_time(filled: SqlStore) -> None:
    names = [f"j{number}" for number in range(11)]
    with filled.reading() as reader, statements(filled) as read:
        assert reader.jobs(ids=names) == reader.jobs(ids=names) == ()
    assert len(read) == 2


def test_the_next_reader_sees_what_has_changed_and_a_writer_sees_its_own_changes(filled: SqlStore) -> None:
    with filled.reading() as reader:
        assert len(reader.jobs(ids=["new"])) == 0
        with filled.transaction() as transaction:
            assert len(transaction.jobs(ids=["new"])) == 0
            transaction.put_jobs([job("new")])
            assert len(transaction.jobs(ids=["new"])) == 1
        assert len(reader.jobs(ids=["new"])) == 0, "one instant"
    with filled.reading() as reader:
        assert len(reader.jobs(ids=["new"])) == 1


def ask_for_what_is_due(asked: EngineReader) -> list[object]:
    """Everything that a tick at an hour asks for."""
    return [
        asked.unrouted_events(10),
        asked.due_schedules(at(60), 10),
        asked.due_schedules(at(60), 10, tasks=True),
        asked.due_jobs(at(60), 10),
        asked.woken(at(60)),
        asked.due_records(OVERRIDES, at(60), 10),
        asked.due_records(EXPECTED_DATA, None, 10),
        asked.next_maintenance(),
    ]


NOTHING_DUE: list[object] = [*[()] * 7, None]


def test_what_is_due_is_one_question_where_nothing_is(filled: SqlStore) -> None:
    with filled.reading() as reader, statements(filled) as read:
        assert ask_for_what_is_due(reader) == ask_for_what_is_due(reader) == NOTHING_DUE
        assert len(read) == 1
    with filled.transaction() as transaction, statements(filled) as read:
        assert ask_for_what_is_due(transaction) == NOTHING_DUE
        assert sum(" AS anon_1" in statement for statement in read) == 1


def test_a_writer_finds_due_what_it_has_written_since_it_asked(filled: SqlStore) -> None:
    with filled.transaction() as transaction:
        assert ask_for_what_is_due(transaction) == NOTHING_DUE
        due = schedule("a/s", next_fire_at=at(5))
        waiting = job("w", next_check_at=at(6))
        transaction.add_events([event("e", 7)])
        transaction.put_schedules([due])
        transaction.put_jobs([waiting])
        found = ask_for_what_is_due(transaction)
    assert [[each.id for each in found[0]], *found[1:4]] == [["e"], (due,), (), (waiting,)]
    with filled.reading() as reader:
        assert ask_for_what_is_due(reader) == found


def test_a_writer_reads_again_what_it_has_written(filled: SqlStore) -> None:
    with filled.transaction() as transaction, statements(filled) as read:
        for _ in range(2):
            assert transaction.schedules(refs=["b/s"]) == (schedule("b/s"),)
            assert transaction.cursor("clock") is transaction.cursor("missed") is None
            assert [each.name for each in transaction.records(APPS, name=["c"])] == []
        assert len(read) == 3
        transaction.put_records(APPS, [app("c")])
        transaction.put_schedules([schedule("b/s", next_fire_at=at(5))])
        transaction.set_cursor("clock", "now")
        assert transaction.schedules(refs=["b/s"]) == (schedule("b/s", next_fire_at=at(5)),)
        assert [each.name for each in transaction.records(APPS, name=["c"])] == ["c"]
        assert transaction.cursor("clock") == "now"
        transaction.set_cursor("clock", None)
        assert transaction.cursor("clock") is None


def test_a_job_that_ends_and_goes_on_in_one_transaction_counts_as_it_is(filled: SqlStore) -> None:
    with filled.transaction() as transaction:
        (found,) = transaction.jobs(ids=["j"])
        transaction.put_jobs([job("j", state=JobState.SUCCEEDED)])
        assert len(transaction.counts().finished_jobs) == 1
        transaction.put_jobs([found])
    with filled.reading() as reader:
        assert reader.counts().finished_jobs == ()
