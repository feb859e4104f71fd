"""The kept counts of waiting jobs in SQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter

from sqlalchemy import BigInteger, Column, Table, Text, bindparam, delete, select
from sqlalchemy.sql.dml import ReturningDelete

from tidegate.domain.value import without_collection
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys, Tally
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name, microseconds
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, every
from tidegate.scheduler.store.sql.statements.rows import EVENTS
from tidegate.scheduler.store.sql.tables import events

# One row for each job, and one for each key that a leaf counts once.
kept_tallies = Table(
    "tallies",
    metadata,
    Column("job", Name, primary_key=True),
    Column("basis", Text, nullable=False),
    Column("tally", Json(Tally), nullable=False),
)
keys_counted = Table(
    "tallied_keys",
    metadata,
    Column("job", Name, primary_key=True),
    Column("key", Name, primary_key=True),
    Column("leaf", Name, primary_key=True),
    Column("amount", BigInteger, nullable=False),
)

# The events that count, of a job whose events may stop counting: by arrival, so that the oldest are found.
events_counted = Table(
    "counted_events",
    metadata,
    Column("job", Name, primary_key=True),
    Column("leaf", Name, primary_key=True),
    Column("arrived", Instant, primary_key=True, autoincrement=False),
    Column("event", Name, primary_key=True),
)
COUNTED_NAMES = ("job", "leaf", "arrived", "event")

TALLIES = Codec(kept_tallies, KeptTally)

ALL_TALLIES = every(TALLIES)
COUNTED = (
    select(*EVENTS.read)
    .join_from(events_counted, events, events.c.id == events_counted.c.event)
    .where(events_counted.c.arrived > bindparam("after", type_=Instant))
    .order_by(events_counted.c.arrived, events_counted.c.event)
    .limit(LIMIT)
)
NEWEST_COUNTED = (
    select(events_counted.c.arrived)
    .where(events_counted.c.arrived <= bindparam("until", type_=Instant))
    .order_by(events_counted.c.arrived.desc())
    .limit(1)
)
KEYS = select(keys_counted.c.leaf, keys_counted.c.key, keys_counted.c.amount)

KEYS_AT = select(keys_counted.c.key).order_by(keys_counted.c.key)


@cache
def _deleted(dialect: str) -> ReturningDelete[tuple[str]]:
    """Return the statement that removes counts and says whose; most jobs have none."""
    column = kept_tallies.c.job
    return delete(kept_tallies).where(among(dialect, column, "jobs")).returning(column)


class TallyReader(Queries):
    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        found = self._all(ALL_TALLIES, TALLIES.value, {kept_tallies.c.job: jobs})
        return {kept.job: kept for kept in found}

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        table = keys_counted
        rows = self._all(KEYS, tuple[str, str, int], {table.c.key: keys}, {table.c.job: job})
        return {(leaf, key): amount for leaf, key, amount in rows}

    def counted_keys(self, job: str, place: str) -> tuple[str, ...]:
        table = keys_counted
        with without_collection():
            return tuple(self._all(KEYS_AT, itemgetter(0), None, {table.c.job: job, table.c.leaf: place}))

    def counted_events(self, job: str, leaf: str, after: datetime, limit: int) -> tuple[Event, ...]:
        equals = {events_counted.c.job: job, events_counted.c.leaf: leaf}
        return tuple(self._all(COUNTED, EVENTS.value, None, equals, after=after, limit=limit))

    def newest_counted(self, job: str, leaf: str, until: datetime) -> datetime | None:
        equals = {events_counted.c.job: job, events_counted.c.leaf: leaf}
        found = self._all(NEWEST_COUNTED, tuple[datetime], None, equals, until=until)
        return found[0][0] if found else None


class TallyWriter(Changes):
    def put_tallies(
        self,
        tallies: Sequence[KeptTally],
        keys: Mapping[str, TalliedKeys] | None = None,
        counted: Sequence[Delivery] = (),
    ) -> None:
        self._put(TALLIES, tallies)
        rows = [
            (job, *place[::-1], amount)
            for job, each in (keys or {}).items()
            for place, amount in each.items()
        ]
        names = ("job", "key", "leaf", "amount")
        adding, gone = [row for row in rows if row[-1]], [row[:-1] for row in rows if not row[-1]]
        bulk.insert(self._connection, keys_counted, names, adding, on_conflict="replace")
        bulk.delete(self._connection, keys_counted, names[:-1], gone)
        events = [_counted_row(each) for each in counted]
        bulk.insert(self._connection, events_counted, COUNTED_NAMES, events, on_conflict="leave")

    def remove_counted(self, deliveries: Sequence[Delivery]) -> None:
        """Remove deliveries from the counted events of their jobs."""
        bulk.delete(
            self._connection, events_counted, COUNTED_NAMES, [_counted_row(each) for each in deliveries]
        )

    def delete_tallies(self, jobs: Collection[str]) -> None:
        if not jobs:
            return
        gone = self._connection.execute(_deleted(self._dialect), {"jobs": listed(self._dialect, jobs)})
        named = [row.job for row in gone.all()]
        self._delete(keys_counted.c.job, named)
        self._delete(events_counted.c.job, named)


def _counted_row(delivery: Delivery) -> tuple[str, str, int, str]:
    event = delivery.event
    return delivery.job or "", delivery.leaf, microseconds(event.arrived), event.id
