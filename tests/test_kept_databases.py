"""A database that a test gives back is as it was at first, and one with other tables is not given on."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy

from tests.databases import KeptDatabases, kept_stores
from tests.doubles.dump import dump
from tests.worlds.samples import job
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.store


class Request:
    """What a test is for `KeptDatabases`; it ends by a call."""

    def __init__(self) -> None:
        self._last = list[Callable[[], None]]()
        self.asked: Any = SimpleNamespace(addfinalizer=self._last.append)

    def end(self) -> None:
        for each in self._last:
            each()


@pytest.fixture
def kept(postgres_server: str) -> KeptDatabases:
    """Databases that no other test has."""
    return kept_stores.__wrapped__(postgres_server)


def test_the_next_test_finds_nothing_of_the_one_before(kept: KeptDatabases) -> None:
    first, second = Request(), Request()
    url = kept.take(first.asked)
    store = open_sql_store(url)
    before = dump(store)
    with store.transaction() as transaction:
        transaction.put_jobs([job("1")])
    assert dump(store) != before

    first.end()

    assert kept.take(second.asked) == url
    again = open_sql_store(url, create=False)
    assert dump(again) == before
    again.close()
    second.end()


def test_a_database_with_other_tables_is_left_to_itself(kept: KeptDatabases) -> None:
    first, second = Request(), Request()
    url = kept.take(first.asked)
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("DROP TABLE totals"))
    engine.dispose()

    first.end()

    assert kept.take(second.asked) != url
    second.end()
