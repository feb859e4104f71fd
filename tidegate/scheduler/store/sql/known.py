"""A reader that asks nothing twice within its transaction, and not for what is due where nothing is.

An explanation asks for the same job, schedule and app at several places, a tick for the same apps, schedules
and marks of progress at each of its instants, and each question is a round trip to the server of a database.
A reader sees one snapshot. A writer has the only lock: what it has asked lasts until it writes to that table.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Unpack

from sqlalchemy import Column, Connection, func, select

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.expected import EXPECTED_DATA
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.answers import AppHeader
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.connection.engine import WRITTEN
from tidegate.scheduler.store.sql.maintenance import NEXT_LOOK, RUNNING_UNTIL
from tidegate.scheduler.store.sql.queues import QUEUES
from tidegate.scheduler.store.sql.reader import SqlReader, decoded
from tidegate.scheduler.store.sql.records.by_key import codec_of
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.queries import Statement
from tidegate.scheduler.store.wanted import JobsWanted, SchedulesWanted

NAMES_MAX = 10
"""Look-ups of more names at once are not kept: they are those of lists, which are read once."""

KNOWN_MAX = 1_000
"""So many look-ups are kept."""

OF_A_TICK = ("clock", "held-apps", "missed", "returned", "ticked", "unfinished")
"""The cursors that ticks, and what is done between them, ask for: they are read together."""

DUE: tuple[Column[Any], ...] = (
    tables.events.c.unrouted_since,
    tables.schedules.c.due_at,
    tables.schedules.c.generate_at,
    tables.jobs.c.due_at,
    QUEUES.c.woken_at,
    codec_of(OVERRIDES).table.c[OVERRIDES.due],
    codec_of(EXPECTED_DATA).table.c[EXPECTED_DATA.due],
    NEXT_LOOK,
    RUNNING_UNTIL,
)
"""The columns that say when a row is due; each has an index."""

FIRST_DUE = select(*(select(func.min(column)).where(column.is_not(None)).scalar_subquery() for column in DUE))

T = TypeVar("T")
V = TypeVar("V", bound=Value)


@cache
def _cursors(dialect: str) -> Statement:
    of = tables.cursors.c
    return select(of.name, of.value).where(among(dialect, of.name, "names"))


class KnowingReader(SqlReader):
    """Looks nothing up twice."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._known: dict[tuple[str, frozenset[str]], Any] = {}
        # Their texts, by name; None for a cursor that does not exist.
        self._cursors: dict[str, str | None] = {}
        self._first_due: dict[Column[Any], datetime | None] | None = None

    def cursor(self, name: str) -> Any:
        if name not in self._cursors:
            names = {name, *OF_A_TICK} - self._cursors.keys()
            found = self._connection.execute(_cursors(self._dialect), {"names": listed(self._dialect, names)})
            self._cursors |= {**dict.fromkeys(names), **{row.name: row.value for row in found}}
        text = self._cursors[name]
        return None if text is None else decoded(name, text)

    def records(self, kind: Kind[V], /, **among: Collection[str] | None) -> tuple[V, ...]:
        narrowed = kind.narrowed_by(among)
        what = " ".join((kind.name, *narrowed))
        names = [f"{name} {value}" for name, values in narrowed.items() for value in values]
        return self._once(
            codec_of(kind).table.name, what, names, lambda: SqlReader.records(self, kind, **among)
        )

    def app_headers(self) -> tuple[AppHeader, ...]:
        return self._once(tables.apps.name, "app headers", (), lambda: SqlReader.app_headers(self))

    def schedules(self, **wanted: Unpack[SchedulesWanted]) -> tuple[ScheduleState, ...]:
        only = wanted.get("refs") if wanted.keys() == {"refs"} else None
        return self._once(
            tables.schedules.name, "schedules", only, lambda: SqlReader.schedules(self, **wanted)
        )

    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        only = wanted.get("ids") if wanted.keys() == {"ids"} else None
        return self._once(tables.jobs.name, "jobs", only, lambda: SqlReader.jobs(self, **wanted))

    # --- what is due ---

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        return super().unrouted_events(limit) if self._may_be_due(tables.events.c.unrouted_since) else ()

    def due_schedules(self, now: datetime, limit: int, *, tasks: bool = False) -> tuple[ScheduleState, ...]:
        column = tables.schedules.c.generate_at if tasks else tables.schedules.c.due_at
        return super().due_schedules(now, limit, tasks=tasks) if self._may_be_due(column, now) else ()

    def due_jobs(
        self, now: datetime, limit: int, after: tuple[datetime, str] | None = None
    ) -> tuple[Job, ...]:
        return super().due_jobs(now, limit, after) if self._may_be_due(tables.jobs.c.due_at, now) else ()

    def woken(self, until: datetime, limit: int | None = None) -> tuple[tuple[str, datetime], ...]:
        return super().woken(until, limit) if self._may_be_due(QUEUES.c.woken_at, until) else ()

    def due_records(self, kind: Kind[V], until: datetime | None, limit: int, /, **same: str) -> tuple[V, ...]:
        column = codec_of(kind).table.c[kind.due]
        if column in DUE and not self._may_be_due(column, until):
            return ()
        return super().due_records(kind, until, limit, **same)

    def next_maintenance(self) -> datetime | None:
        if self._has_written(NEXT_LOOK.table.name) or self._has_written(RUNNING_UNTIL.table.name):
            return super().next_maintenance()
        found = self._first_of_each()
        both = (found[NEXT_LOOK], found[RUNNING_UNTIL])
        return min((each for each in both if each is not None), default=None)

    def _may_be_due(self, column: Column[Any], until: datetime | None = None) -> bool:
        """Return whether there may be rows that are due by an instant; None for any."""
        if self._has_written(column.table.name):
            return True
        first = self._first_of_each()[column]
        return first is not None and (until is None or first <= until)

    def _first_of_each(self) -> dict[Column[Any], datetime | None]:
        """Return when the first row of each column was due when the transaction asked."""
        if self._first_due is None:
            self._first_due = dict(zip(DUE, self._connection.execute(FIRST_DUE).one(), strict=True))
        return self._first_due

    # --- what was read ---

    def _has_written(self, table: str) -> bool:
        return table in self._connection.info.get(WRITTEN, ())

    def _lasts(self, table: str) -> bool:
        """Return whether what was read of a table is still so."""
        return True

    def _once(self, table: str, what: str, names: Collection[str] | None, read: Callable[[], T]) -> T:
        """Return what is read for some names; None is not kept."""
        if names is None or len(names) > NAMES_MAX or not self._lasts(table):
            return read()
        key = what, frozenset(names)
        if key not in self._known:
            found = read()
            if len(self._known) >= KNOWN_MAX:
                return found
            self._known[key] = found
        return self._known[key]
