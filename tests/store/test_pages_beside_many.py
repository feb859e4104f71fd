"""A page costs the same however many jobs and events it does not show, by the steps of SQLite's machine.

Each read chooses among indexes, of which one would have all rows of a state, of an app or of a dataset.
"""

from collections.abc import Callable, Generator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.crashes.statements import listening
from tests.worlds.samples import NOON, delivery, event, job
from tidegate.listings.listing import EVERYTHING
from tidegate.listings.queries.jobs import list_jobs
from tidegate.listings.read import Asked
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.sql.event_pages import LOOKED_AT
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.store.wanted import EventsWanted, Outcome

FEW, MANY = LOOKED_AT + 500, 2 * LOOKED_AT + 1_000
STEP = 10
PAGE = 10

NEWEST = (NOON, "e00000")
"""The place of the newest event."""

READS: list[tuple[str, Callable[[ListingReader], Any]]] = [
    (
        "the second page of events that failed",
        lambda reader: reader.events_page(EventsWanted(outcome=Outcome.FAILED, before=NEWEST), PAGE),
    ),
    ("the newest jobs of an app", lambda reader: list_jobs(_asked(reader))),
    ("the newest jobs of maintenance", lambda reader: list_jobs(_asked(reader, maintenance=True))),
    ("dead letters", lambda reader: reader.counts().dead_letters),
    (
        "newest events of partitions",
        lambda reader: reader.partition_states("a/d", [f"p{n}" for n in range(PAGE)]),
    ),
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[SqlStore, SqlStore]]:
    """A store with few failed jobs and one with many, each with an event of a partition of its own."""
    few, many = opened = [_store(tmp_path_factory.mktemp("store"), size) for size in (FEW, MANY)]
    yield few, many
    for each in opened:
        each.close()


def _store(folder: Path, size: int) -> SqlStore:
    store = open_sql_store(f"sqlite:///{folder}/store.db")
    times = [NOON - timedelta(minutes=number) for number in range(size)]
    events = [event(f"e{n:05}", -n, partition=f"p{size - 1 - n}") for n in range(size)]
    jobs = [
        job(f"j{n}", state=JobState.FAILED, reason=Reason.F_RUN, opened_at=at, ended_at=at)
        for n, at in enumerate(times)
    ]
    with store.transaction() as transaction:
        transaction.add_events(events)
        transaction.mark_routed([each.id for each in events])
        transaction.put_jobs(jobs)
        transaction.add_deliveries([delivery(e, job=j.id) for e, j in zip(events, jobs, strict=True)])
    return store


@pytest.mark.parametrize(("name", "read"), READS, ids=[name for name, _ in READS])
def test_a_page_costs_the_same_beside_more(
    stores: tuple[SqlStore, SqlStore], name: str, read: Callable[[ListingReader], Any]
) -> None:
    few, many = (_steps(store, read) for store in stores)
    assert 0 < many <= few * 1.1 + STEP, name


def _asked(reader: ListingReader, **wanted: object) -> Asked:
    # The query reads no more of its source than the open store.
    source: Any = SimpleNamespace(reader=reader)
    return Asked(source=source, scope=EVERYTHING, wanted=wanted or {"app": "a"}, limit=PAGE, after=None)


def _steps(store: SqlStore, read: Callable[[ListingReader], Any]) -> int:
    steps = list[int]()

    def count(connection: Any, *_: Any) -> None:
        connection.connection.dbapi_connection.set_progress_handler(lambda: steps.append(STEP), STEP)

    with listening(store.engine, count), store.reading() as reader:
        read(reader)
    return sum(steps)
