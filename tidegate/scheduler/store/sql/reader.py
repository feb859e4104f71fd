"""The reader of the store in SQL, within the transaction of a given connection.

Every query of a tick uses an index (see `tables`). Each statement is built once and cached, for any
parameters and any length of lists (see `bulk`): building one takes longer than running it.
"""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from itertools import combinations
from typing import Any, Unpack, get_args

import msgspec
from sqlalchemy import Column, bindparam, func, select

from tidegate.domain.model import Constraint, Schedule
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.run import ENDED, ProgramHistory, Run, RunStatus
from tidegate.scheduler.store.answers import AppHeader, Commitment
from tidegate.scheduler.store.engine_reader import constraints_of
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT, Codec, Row, as_held
from tidegate.scheduler.store.sql.commit_tables import commitments, watermarked
from tidegate.scheduler.store.sql.counts import CountReader
from tidegate.scheduler.store.sql.event_pages import EventPageReader
from tidegate.scheduler.store.sql.jobs import DeliveryReader, JobReader
from tidegate.scheduler.store.sql.journal import JournalReader
from tidegate.scheduler.store.sql.maintenance import MaintenanceReader
from tidegate.scheduler.store.sql.pages import PageReader
from tidegate.scheduler.store.sql.partitions import PartitionReader
from tidegate.scheduler.store.sql.queues import QueueReader
from tidegate.scheduler.store.sql.records.alerts import AlertReader
from tidegate.scheduler.store.sql.records.by_key import RecordReader
from tidegate.scheduler.store.sql.records.expected import ExpectedReader
from tidegate.scheduler.store.sql.records.tables import SpecificationReader
from tidegate.scheduler.store.sql.records.tallies import TallyReader
from tidegate.scheduler.store.sql.retention.reader import RetentionReader
from tidegate.scheduler.store.sql.spans import SpanReader
from tidegate.scheduler.store.sql.statements.bulk import given, listed
from tidegate.scheduler.store.sql.statements.filters import Filters
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, Statement, every
from tidegate.scheduler.store.sql.statements.rows import (
    EVENTS,
    RUNS,
    SCHEDULES,
    joined_kinds,
)
from tidegate.scheduler.store.wanted import SchedulesWanted

_SCHEDULES = tables.schedules.c
CONSTRAINED = select(_SCHEDULES.ref, as_held(_SCHEDULES.spec)).order_by(_SCHEDULES.ref)
KINDS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Constraint))


class ConstraintReader(Queries):
    def constraints(
        self, kinds: Collection[type[Constraint]], *, app: str | None = None
    ) -> tuple[tuple[str, Constraint], ...]:
        wanted = {str(kind.__struct_config__.tag) for kind in kinds}
        # The kinds of a schedule are one of a few dozen sets, and each is looked up.
        sets = (each for size in range(len(KINDS)) for each in combinations(KINDS, size + 1))
        among = {joined_kinds(each) or "" for each in sets if not wanted.isdisjoint(each)}
        found = self._all(CONSTRAINED, _of, {_SCHEDULES.constraint_kinds: among}, {_SCHEDULES.app: app})
        return constraints_of(kinds, found)


def _of(row: Row) -> tuple[str, Schedule]:
    kind: Any = _SCHEDULES.spec.type
    return row[0], kind.restored(row[1])


ACTIVE_RUNS = tuple(status for status in RunStatus if status not in ENDED)
ENDED_RUNS = tuple(status for status in RunStatus if status in ENDED)


def _newest(codec: Codec[Any], *columns: Column[Any]) -> Statement:
    """Return the query for the rows with the largest values, largest first, up to the parameter `limit`."""
    return every(codec).order_by(*(each.desc() for each in columns)).limit(LIMIT)


def _earliest(codec: Codec[Any], due: Column[Any], then: Column[Any]) -> Statement:
    """Return the query for rows due by the parameter `now`, earliest first, up to `limit`."""
    return every(codec).where(due <= bindparam("now")).order_by(due, then).limit(LIMIT)


APP_HEADERS = select(
    tables.apps.c.name,
    tables.apps.c.revision,
    tables.apps.c.deployed_at,
    tables.apps.c.project,
    tables.apps.c.namespace,
    tables.apps.c.digest,
).order_by(tables.apps.c.name)
REFS = select(tables.schedules.c.ref)
SCHEDULES_WANTED = Filters(
    query=every(SCHEDULES),
    value=SCHEDULES.value,
    lists={"refs": tables.schedules.c.ref},
    equals={
        "app": tables.schedules.c.app,
        "program": tables.schedules.c.program,
        "kind": tables.schedules.c.trigger_kind,
        "status": tables.schedules.c.status,
    },
    bounds={
        "deadline": tables.schedules.c.deadline_of.is_not(None),
        "after": tables.schedules.c.ref > bindparam("after"),
    },
    limits={"limit": (tables.schedules.c.ref,)},
)
ALL_RUNS = every(RUNS)
EVENTS_WANTED = Filters(
    query=every(EVENTS),
    value=EVENTS.value,
    lists={"ids": tables.events.c.id, "partitions": tables.events.c.partition},
    equals={"key": tables.events.c.key},
    bounds={
        "key_prefix": tables.events.c.key.between(bindparam("key_prefix"), bindparam("key_prefix_id")),
        "after": tables.events.c.arrived > bindparam("after"),
    },
    limits={"limit": (tables.events.c.arrived.desc(), tables.events.c.id.desc())},
)
NEWEST_RUNS = _newest(RUNS, tables.runs.c.seen_at, tables.runs.c.run_id)
DUE_SCHEDULES = _earliest(SCHEDULES, tables.schedules.c.due_at, tables.schedules.c.ref)
DUE_TASKS = _earliest(SCHEDULES, tables.schedules.c.generate_at, tables.schedules.c.ref)
UNROUTED_EVENTS = (
    every(EVENTS)
    .where(tables.events.c.unrouted_since.is_not(None))
    .order_by(tables.events.c.unrouted_since, tables.events.c.id)
    .limit(LIMIT)
)
TAKEN_SLOTS = select(tables.slots.c.resource, func.count()).group_by(tables.slots.c.resource)
LAUNCHES_SINCE = select(tables.launches.c.program, tables.launches.c.at).where(
    tables.launches.c.at > bindparam("since")
)
CURSORS = (
    select(tables.cursors.c.name, tables.cursors.c.value)
    .where(tables.cursors.c.name >= bindparam("first"), tables.cursors.c.name < bindparam("last"))
    .order_by(tables.cursors.c.name)
)
CLAIM = select(tables.claims.c.run_id).where(
    tables.claims.c.job == bindparam("job"), tables.claims.c.attempt == bindparam("attempt")
)


@cache
def _history(dialect: str) -> Statement:
    """Return the query for the last start and end of a success and the last end of each status, by program.

    Each is one look-up at the end of an index; grouping would read all past runs.
    """
    runs = tables.runs
    programs = given(dialect, "programs")
    mine = select(func.max(runs.c.ended_at)).where(runs.c.program == programs.c.value)
    succeeded = mine.where(runs.c.status == RunStatus.SUCCEEDED)
    started = succeeded.with_only_columns(func.max(runs.c.started_at)).where(runs.c.ended_at.is_not(None))
    looks = [started, succeeded]
    for status in ENDED_RUNS:
        looks.append(mine.where(runs.c.status == status))
    return select(programs.c.value, *(look.scalar_subquery().correlate(programs) for look in looks))


class SqlReader(
    CountReader,
    AlertReader,
    ConstraintReader,
    DeliveryReader,
    EventPageReader,
    ExpectedReader,
    JobReader,
    JournalReader,
    MaintenanceReader,
    PageReader,
    PartitionReader,
    QueueReader,
    RecordReader,
    SpecificationReader,
    TallyReader,
    RetentionReader,
    SpanReader,
):
    def app_headers(self) -> tuple[AppHeader, ...]:
        return tuple(
            AppHeader(
                name=row.name,
                revision=row.revision,
                deployed_at=row.deployed_at,
                project=row.project,
                namespace=row.namespace,
                digest=row.digest,
            )
            for row in self._connection.execute(APP_HEADERS)
        )

    def schedule_refs(self) -> tuple[str, ...]:
        return tuple(sorted(self._connection.execute(REFS).scalars()))

    def schedules(self, **wanted: Unpack[SchedulesWanted]) -> tuple[ScheduleState, ...]:
        found = self._wanted(SCHEDULES_WANTED, wanted)
        return tuple(sorted(found, key=lambda state: state.ref))

    def due_schedules(self, now: datetime, limit: int, *, tasks: bool = False) -> tuple[ScheduleState, ...]:
        query = DUE_TASKS if tasks else DUE_SCHEDULES
        return tuple(self._all(query, SCHEDULES.value, now=now, limit=limit))

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        return tuple(self._all(UNROUTED_EVENTS, EVENTS.value, limit=limit))

    def events(
        self,
        *,
        key_prefix: str = "",
        key: str | None = None,
        partitions: Collection[str] | None = None,
        ids: Collection[str] | None = None,
        after: datetime | None = None,
        limit: int | None = 1000,
    ) -> tuple[Event, ...]:
        # A range: an index serves it, and unlike LIKE it has no wildcards.
        begins = (key_prefix, key_prefix + LAST_CODE_POINT) if key_prefix else None
        among = {"ids": ids, "key": key, "partitions": partitions}
        found = self._wanted(EVENTS_WANTED, {**among, "key_prefix": begins, "after": after, "limit": limit})
        return tuple(sorted(found, key=lambda event: (event.arrived, event.id), reverse=True))

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        taken = dict(self._all(TAKEN_SLOTS, tuple[str, int], {tables.slots.c.resource: resources}))
        return {resource: taken.get(resource, 0) for resource in resources}

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        found = {program: ProgramHistory() for program in programs}
        rows = self._all(_history(self._dialect), list[Any], programs=listed(self._dialect, programs))
        for program, started, ended, *last in rows:
            found[program] = ProgramHistory(
                last_success_started=started,
                last_success_ended=ended,
                last_ended=max((end for end in last if end is not None), default=None),
            )
        return found

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        found: dict[str, list[datetime]] = {program: [] for program in programs}
        lists = {tables.launches.c.program: programs}
        for program, at in self._all(LAUNCHES_SINCE, tuple[str, datetime], lists, since=since):
            found[program].append(at)
        return {program: tuple(sorted(each)) for program, each in found.items()}

    def runs(
        self,
        *,
        ids: Collection[str] | None = None,
        jobs: Collection[str] | None = None,
        active: bool | None = None,
        limit: int | None = None,
    ) -> tuple[Run, ...]:
        table = tables.runs
        query = ALL_RUNS if limit is None else NEWEST_RUNS
        lists: dict[Column[Any], Collection[str] | None] = {table.c.run_id: ids, table.c.job: jobs}
        if active is not None:
            lists[table.c.status] = ACTIVE_RUNS if active else ENDED_RUNS
        bound: dict[str, Any] = {} if limit is None else {"limit": limit}
        found = self._all(query, RUNS.value, lists, **bound)
        return tuple(sorted(found, key=lambda run: (run.seen_at, run.run_id)))

    def claim_of(self, job: str, attempt: int) -> str | None:
        return self._connection.execute(CLAIM, {"job": job, "attempt": attempt}).scalar()

    def cursors(self, begins: str) -> dict[str, Any]:
        bound = {"first": begins, "last": begins + LAST_CODE_POINT}
        return {row.name: decoded(row.name, row.value) for row in self._connection.execute(CURSORS, bound)}

    def commitments(self) -> tuple[Commitment, ...]:
        return commitments(self._connection)

    def watermarked(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return watermarked(self._connection)


def decoded(name: str, value: str) -> Any:
    """Return the value of a cursor.

    Raises:
        StoreError: its row is damaged.
    """
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"the row {name} of the table cursors of the store cannot be read: {error}",
            "restore the store, or correct this row",
        ) from error
