"""Writes to PostgreSQL that travel with the next statement: nothing is lost, and nothing is seen too late."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from sqlalchemy.exc import IntegrityError

from tests.crashes.statements import listening
from tests.worlds.samples import event, job, launched, schedule
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.connection import postponed
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.store.sql.writer import SqlTransaction

pytestmark = pytest.mark.store


@contextmanager
def messages(store: SqlStore) -> Iterator[list[str]]:
    """What is sent to the server meanwhile."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    with listening(store.engine, note):
        yield found


def put_twice(transaction: SqlTransaction) -> None:
    """Write a row that the table has, where that is an error."""
    for _ in range(2):
        bulk.insert(
            cast(Any, transaction)._connection,
            tables.cursors,
            ("name", "value"),
            [("twice", "1")],
            on_conflict="fail",
        )


def test_writes_travel_together_and_a_question_finds_them(postgres: SqlStore) -> None:
    with postgres.transaction() as transaction, messages(postgres) as sent:
        transaction.put_schedules([schedule("a/s"), schedule("b/s")])
        transaction.set_cursor("c", "100 %")
        transaction.put_schedules([schedule("a/s", fingerprint="g")])
        assert sent == []
        found = transaction.schedules(refs=["a/s", "b/s"])
        assert [(each.ref, each.fingerprint) for each in found] == [("a/s", "g"), ("b/s", "f")]
        assert len(sent) == 1
    with postgres.reading() as reader:
        assert reader.cursor("c") == "100 %"


def test_writes_that_no_question_follows_are_committed(postgres: SqlStore) -> None:
    with postgres.transaction() as transaction:
        transaction.set_cursor("clock", 1)
    with postgres.reading() as reader:
        assert reader.cursor("clock") == 1


def test_what_is_not_committed_travels_with_no_later_transaction(postgres: SqlStore) -> None:
    with pytest.raises(ZeroDivisionError), postgres.transaction() as transaction:
        transaction.put_jobs([job("j")])
        transaction.set_cursor("c", 1 // 0)
    with postgres.transaction() as transaction:
        assert transaction.jobs(ids=["j"]) == ()
        transaction.set_cursor("d", 2)
    with postgres.reading() as reader:
        assert (reader.cursor("c"), reader.cursor("d"), reader.jobs(ids=["j"])) == (None, 2, ())


def test_a_write_that_fails_fails_its_transaction(postgres: SqlStore) -> None:
    with pytest.raises(IntegrityError), postgres.transaction() as transaction:
        transaction.put_jobs([job("j")])
        put_twice(transaction)
    with postgres.reading() as reader:
        assert reader.jobs(ids=["j"]) == ()


def test_many_rows_are_sent_at_once(postgres: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postponed, "BYTES_MAX", 10)
    with postgres.transaction() as transaction, messages(postgres) as sent:
        transaction.put_schedules([schedule("a/s")])
        assert len(sent) == 1


def test_a_transaction_that_writes_again_what_is_there_has_changed_nothing(postgres: SqlStore) -> None:
    with postgres.transaction() as transaction:
        transaction.add_events([event("e")])
        transaction.add_launches([launched("j")])
    before = postgres.changes()
    with postgres.transaction() as transaction:
        transaction.add_events([event("e")])
        transaction.add_launches([launched("j")])
    assert postgres.changes() == before
