"""Kept connections to PostgreSQL: looked at when they are taken, asked after a rest, and replaced."""

import pytest

from tests.store.test_transactions import end_connections
from tidegate.scheduler.store.sql.connection import kept
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = pytest.mark.store


@pytest.fixture
def asked(postgres: SqlStore, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The connections whose server was asked, where one was given back before."""
    with postgres.transaction() as transaction:
        transaction.set_cursor("c", 1)
    found, ask = list[object](), postgres.engine.dialect.do_ping

    def note(connection: object) -> bool:
        found.append(connection)
        return ask(connection)

    monkeypatch.setattr(postgres.engine.dialect, "do_ping", note)
    return found


def read(store: SqlStore) -> object:
    """What a reader reads, which takes a connection."""
    with store.reading() as reader:
        return reader.cursor("c")


def test_the_server_of_a_connection_that_was_just_used_is_not_asked(
    postgres: SqlStore, asked: list[object]
) -> None:
    assert [read(postgres) for _ in range(3)] == [1, 1, 1]
    assert not asked


def test_the_server_of_a_connection_that_has_rested_is_asked(
    postgres: SqlStore, asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "ASKED_AFTER_SECONDS", -1.0)
    assert read(postgres) == 1
    assert len(asked) == 1


def test_a_connection_that_the_server_has_ended_is_replaced(postgres: SqlStore, asked: list[object]) -> None:
    end_connections(postgres)
    assert read(postgres) == 1
    assert len(asked) == 1
