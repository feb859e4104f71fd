"""One more event costs a job the same, however many it holds: counted in statements and rows, not in time."""

from collections.abc import Generator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.crashes.statements import listening
from tests.worlds.world import MIDNIGHT, app_of
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick.tick import tick

FEW, SOME, MANY = 10, 1_000, 10_000
"""How many events each job holds when it gets one more."""

SCHEDULES = """
keys: {program: q, status: active, trigger: {partitions: {dataset: chunks, count: 50000}}}
bytes: {program: q, status: active, trigger: {any: [{size: {dataset: chunks, bytes: 10TB}}], quiet: 1h}}
batch: {program: q, status: active, trigger: {partitions: {dataset: chunks}}, max_batch: 90000,
        constraints: [delay: 9h]}
waits: {program: q, status: active, trigger: {partitions: {dataset: chunks}}, constraints: [delay: 9h]}
year: {program: q, status: active, trigger: {partitions: {dataset: chunks, complete: year}}}
"""


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqlStore]:
    """A store with schedules that all wait for much more of one dataset."""
    opened = open_sql_store(f"sqlite:///{tmp_path}/store.db")
    with opened.transaction() as transaction:
        deploy(transaction, {"a": app_of(SCHEDULES)}, MIDNIGHT)
    yield opened
    opened.close()


def event(number: int, arrived: datetime) -> Event:
    """A new partition; a day of each year never comes."""
    day = (MIDNIGHT - timedelta(days=number // 3 + number // 900)).date()
    return Event(
        id=f"e{number}",
        kind=EventKind.PARTITION,
        key=partition_event_key("a", "chunks"),
        time=arrived,
        arrived=arrived,
        partition=f"{day}|{('EWR', 'JFK', 'LGA')[number % 3]}",
        bytes=1,
    )


def land(store: SqlStore, first: int, last: int, now: datetime) -> None:
    """Events arrive at one instant, and the engine ticks."""
    with store.transaction() as transaction:
        transaction.add_events([event(number, now) for number in range(first, last)])
    tick(store, now)


def read_for(store: SqlStore, number: int, now: datetime) -> tuple[int, int]:
    """The statements and the rows that one more event makes a tick read."""
    with store.transaction() as transaction:
        transaction.add_events([event(number, now)])
    statements: list[str] = []
    rows: list[int] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)
        if statement.lstrip().startswith("SELECT"):
            rows.append(len(cursor.connection.execute(statement, rest[0]).fetchall()))

    with listening(store.engine, note):
        report = tick(store, now)
    assert (report.routed, report.decided) == (1, 5)
    return len(statements), sum(rows)


@pytest.mark.slow
def test_one_more_event_reads_no_more_from_a_job_that_holds_many(store: SqlStore) -> None:
    read: dict[int, tuple[int, int]] = {}
    landed, now = 0, MIDNIGHT
    for held in (FEW, SOME, MANY):
        land(store, landed, held, now + timedelta(seconds=1))
        land(store, held, held + 1, now + timedelta(seconds=2))
        read[held] = read_for(store, held + 1, now + timedelta(seconds=3))
        landed, now = held + 2, now + timedelta(seconds=3)
    assert read[MANY] == read[SOME]
    assert read[MANY][1] <= read[FEW][1], "rows"
    with store.reading() as reader:
        jobs = reader.jobs()
        held = reader.deliveries([job.id for job in jobs])
        states = {job.schedule: job.state for job in jobs}
    assert {len(each) for each in held.values()} == {MANY + 2}
    assert states == {
        "a/keys": JobState.PENDING_TRIGGER,
        "a/bytes": JobState.PENDING_TRIGGER,
        "a/batch": JobState.PENDING_CONSTRAINT,
        "a/waits": JobState.PENDING_CONSTRAINT,
        "a/year": JobState.PENDING_TRIGGER,
    }
