"""One more event costs a job the same, however many it holds: counted in statements and rows, not in time."""

from collections.abc import Generator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.crashes.statements import listening
from tests.effort import much
from tests.worlds.by import CLI
from tests.worlds.world import MIDNIGHT, app_of
from tidegate.domain.model import leaves
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.event import Delivery, Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick import held_events
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.slow  # jobs that hold many events

FEW, SOME, MANY = 10, 500, min(much(2_000), 20_000)
"""How many events each job holds when it gets one more; ten thousand in a soak."""

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
        deploy(transaction, {"a": app_of(SCHEDULES)}, MIDNIGHT, by=CLI)
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


def read_for(store: SqlStore, new: Event, *, decided: int = 5) -> tuple[int, int]:
    """The statements and the rows that one more event makes a tick read.

    Args:
        decided: the jobs that it is for.
    """
    with store.transaction() as transaction:
        transaction.add_events([new])
    statements: list[str] = []
    rows: list[int] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)
        if statement.lstrip().startswith("SELECT"):
            rows.append(len(cursor.connection.execute(statement, rest[0]).fetchall()))

    with listening(store.engine, note):
        report = tick(store, new.arrived)
    assert (report.routed, report.decided) == (1, decided)
    return len(statements), sum(rows)


@pytest.mark.slow
def test_one_more_event_reads_no_more_from_a_job_that_holds_many(store: SqlStore) -> None:
    read: dict[int, tuple[int, int]] = {}
    landed, now = 0, MIDNIGHT
    for held in (FEW, SOME, MANY):
        land(store, landed, held, now + timedelta(seconds=1))
        land(store, held, held + 1, now + timedelta(seconds=2))
        read[held] = read_for(store, event(held + 1, now + timedelta(seconds=3)))
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


IN_TURN = """
turns: {program: q, status: active, trigger: {sequence: [
  {partitions: {dataset: hourly}}, {partitions: {dataset: hourly, count: 50000}}], wait_at_most: 9d}}
within: {program: q, status: active, trigger: {
  partitions: {dataset: hourly, count: 50000}, collect_within: HELDs}}
both: {program: q, status: active, trigger: {sequence: [
  {partitions: {dataset: hourly, count: 2}}, {size: {dataset: hourly, bytes: 10TB}}], collect_within: HELDs}}
"""
"""Each further event drops the oldest one, of all but the first."""

TEN, VERY_MANY = 10, min(much(4_000), 40_000)


def hour(number: int, arrived: datetime) -> Event:
    """A new partition of one hour."""
    partition = (MIDNIGHT - timedelta(hours=number)).strftime("%Y-%m-%d-%H:00")
    key = partition_event_key("a", "hourly")
    return msgspec.structs.replace(event(number, arrived), key=key, partition=partition)


def holding(url: str, held: int) -> SqlStore:
    """A store whose jobs hold events, one for each second, as a tick has left them."""
    opened = open_sql_store(url)
    events = [hour(number, MIDNIGHT + timedelta(seconds=1 + number)) for number in range(held)]
    app = app_of(IN_TURN.replace("HELD", str(held)))
    with opened.transaction() as transaction:
        deploy(transaction, {"a": app}, MIDNIGHT, by=CLI)
        transaction.add_events(events)
        transaction.mark_routed([each.id for each in events])
        for name in app.schedules:
            ref, first = f"a/{name}", events[0].arrived
            job = Job(id=f"a.{name}", schedule=ref, opened_at=first, first_event_at=first)
            transaction.put_jobs([job])
            transaction.add_deliveries(
                [
                    Delivery(event=each, schedule=ref, leaf=leaf.path, job=job.id, at=each.arrived)
                    for each in events
                    for leaf in leaves(app.schedules[name].trigger)
                ]
            )
    return opened


@pytest.mark.slow
def test_so_it_does_where_events_count_in_turn_or_drop_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_events, "COUNTED_FROM", 1)
    read: dict[int, tuple[int, int]] = {}
    for held in (TEN, VERY_MANY):
        store = holding(f"sqlite:///{tmp_path}/{held}.db", held)
        now = MIDNIGHT + timedelta(seconds=held)
        with store.transaction() as transaction:
            transaction.add_events([hour(held, now + timedelta(seconds=1))])
        tick(store, now + timedelta(seconds=1))
        read[held] = read_for(store, hour(held + 1, now + timedelta(seconds=2)), decided=3)
        with store.reading() as reader:
            jobs = reader.jobs()
            left = {job.schedule: len(reader.deliveries([job.id])[job.id]) for job in jobs}
            assert {job.state for job in jobs} == {JobState.PENDING_TRIGGER}
        assert left == {"a/turns": 2 * held + 4, "a/within": held, "a/both": 2 * held}
        store.close()
    assert read[TEN] == read[VERY_MANY]
