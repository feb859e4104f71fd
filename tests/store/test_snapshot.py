"""A reader of SQL looks nothing up twice, and sees the store at one instant all the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.crashes.statements import listening
from tests.worlds.samples import app, job, schedule
from tidegate.scheduler.model.deployed import APPS
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
