"""Jobs in SQL, also those that are instances of tasks; each query uses an index of `jobs` or `edges`.

And the events that are delivered to them. A job may have collected a hundred thousand, which its launch
reads. Most say nothing beyond a few facts, so only these are read of all: every column takes twice the time.
"""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Unpack

import msgspec
from sqlalchemy import Integer, Text, and_, bindparam, case, cast, func, or_, select, union_all

from tidegate.domain.value import without_collection
from tidegate.scheduler.model.event import FACTS, FURTHER, Delivery, Event, EventKind, Report, delivery_order
from tidegate.scheduler.model.job import JOB_ID_HEX_DIGITS, SHORT_DIGITS, WAITING, Job, JobState
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT, Instant, Row, as_held, instant
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.filters import FilteredQueries, Filters
from tidegate.scheduler.store.sql.statements.queries import LIMIT, UNREADABLE, Queries, Statement, every
from tidegate.scheduler.store.sql.statements.rows import DELIVERY_READ, EVENTS, JOBS, delivery_of
from tidegate.scheduler.store.wanted import JobsWanted

_JOBS = tables.jobs.c
_BEFORE = bindparam("before", type_=Instant)
_BEGINS = bindparam("begins", type_=Text)
_ENDS = _BEGINS + LAST_CODE_POINT
# The first digits of a hash have an index; the others are compared in what it has found.
_HASH = func.substr(_JOBS.id, func.length(_JOBS.id) - (JOB_ID_HEX_DIGITS - 1))
_SHORT = func.substr(_BEGINS, 1, SHORT_DIGITS)
_BEGIN_SO = union_all(
    select(_JOBS.id).where(_JOBS.id >= _BEGINS, _JOBS.id < _ENDS),
    select(_JOBS.id).where(
        tables.SHORT_HASH >= _SHORT,
        tables.SHORT_HASH < _SHORT + LAST_CODE_POINT,
        _HASH >= _BEGINS,
        _HASH < _ENDS,
    ),
)
WANTED = Filters(
    query=every(JOBS),
    value=JOBS.value,
    lists={
        "ids": _JOBS.id,
        "apps": _JOBS.app,
        "schedules": _JOBS.schedule,
        "states": _JOBS.state,
        "blocked_on": _JOBS.blocked_on,
        "open_for": _JOBS.open_for,
    },
    equals={"reason": _JOBS.reason},
    bounds={
        "begins": _JOBS.id.in_(_BEGIN_SO),
        "blocked_on": or_(_JOBS.state.in_(sorted(WAITING)), _JOBS.gave_back),
        "repairs": _JOBS.repairs.is_not(None),
        "operations": _JOBS.maintenance.is_not(None),
        "since": _JOBS.opened_at >= bindparam("since", type_=Instant),
        "until": _JOBS.opened_at <= bindparam("until", type_=Instant),
        "ended_since": _JOBS.ended_at >= bindparam("ended_since", type_=Instant),
        # The first condition alone tells the index where to begin.
        "before": and_(
            _JOBS.opened_at <= _BEFORE,
            or_(_JOBS.opened_at < _BEFORE, _JOBS.id < bindparam("before_id", type_=Text)),
        ),
    },
    limits={"limit": (_JOBS.opened_at.desc(), _JOBS.id.desc())},
)
DUE = every(JOBS).where(_JOBS.due_at <= bindparam("now")).order_by(_JOBS.due_at, _JOBS.id).limit(LIMIT)
_BEHIND = or_(_JOBS.due_at > bindparam("at"), _JOBS.id > bindparam("id"))
DUE_BEHIND = DUE.where(_JOBS.due_at >= bindparam("at"), _BEHIND)
_ORDER = (_JOBS.scheduled_at, _JOBS.id)
IN_RANGE = (
    every(JOBS)
    .where(_JOBS.backfill == bindparam("backfill"))
    .where(_JOBS.scheduled_at.between(bindparam("first"), bindparam("last")))
    .order_by(*_ORDER)
)
BEFORE = (
    every(JOBS)
    .where(_JOBS.schedule == bindparam("task"))
    .where(_JOBS.backfill == bindparam("backfill"))
    .where(_JOBS.real_at < bindparam("before"))
    .order_by(_JOBS.real_at.desc(), _JOBS.id.desc())
    .limit(1)
)
OF_BACKFILL = (
    every(JOBS).where(_JOBS.backfill == bindparam("backfill")).where(_JOBS.backfill > 0).order_by(*_ORDER)
)
COUNTS_OF_BACKFILLS = (
    select(_JOBS.backfill, _JOBS.state, func.count())
    .where(_JOBS.backfill > 0)
    .where(_JOBS.backfill.between(bindparam("first", type_=Integer), bindparam("last", type_=Integer)))
    .where(_JOBS.real_at.is_not(None))
    .group_by(_JOBS.backfill, _JOBS.state)
)
CONSUMERS = select(tables.edges.c.job).distinct()


@cache
def _with_hashes(dialect: str) -> Statement:
    return select(_JOBS.id).where(among(dialect, tables.SHORT_HASH, "hashes"))


class JobReader(FilteredQueries):
    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        # An index has the jobs of one value in order; of a list all would be sorted to find the newest.
        alone = ("schedules", "states")
        if wanted.get("limit") is None:
            alone = ("apps",)
        elif wanted.get("states") is not None and wanted.get("schedules") is None:
            # In each state those of an app are in order.
            alone = ("apps", "states")
        hashes = wanted.pop("hashes", None)
        if hashes is not None:
            query, given = _with_hashes(self._dialect), listed(self._dialect, hashes)
            wanted["ids"] = [id for (id,) in self._all(query, tuple[str], hashes=given)]
        found = self._wanted(WANTED, wanted, alone)
        return tuple(sorted(found, key=lambda job: (job.opened_at, job.id)))

    def due_jobs(
        self, now: datetime, limit: int, after: tuple[datetime, str] | None = None
    ) -> tuple[Job, ...]:
        if after is None:
            return tuple(self._all(DUE, JOBS.value, now=now, limit=limit))
        at, id = after
        return tuple(self._all(DUE_BEHIND, JOBS.value, now=now, limit=limit, at=at, id=id))

    def instances(
        self,
        tasks: Collection[str] | None = None,
        first: datetime | None = None,
        last: datetime | None = None,
        *,
        backfill: int = 0,
    ) -> tuple[Job, ...]:
        if tasks is None:
            return tuple(self._all(OF_BACKFILL, JOBS.value, backfill=backfill))
        found = self._all(
            IN_RANGE, JOBS.value, {_JOBS.schedule: tasks}, first=first, last=last, backfill=backfill
        )
        return tuple(found)

    def instance_before(self, task: str, scheduled: datetime, *, backfill: int = 0) -> Job | None:
        found = self._all(BEFORE, JOBS.value, task=task, before=scheduled, backfill=backfill)
        return next(iter(found), None)

    def consumers(self, jobs: Collection[str]) -> tuple[str, ...]:
        found = self._all(CONSUMERS, tuple[str], {tables.edges.c.upstream: jobs})
        return tuple(sorted(job for (job,) in found))

    def backfill_counts(self, first: int, last: int) -> dict[int, dict[JobState, int]]:
        found: dict[int, dict[JobState, int]] = {}
        for number, state, jobs in self._all(
            COUNTS_OF_BACKFILLS, tuple[int, JobState, int], first=first, last=last
        ):
            found.setdefault(number, {})[state] = jobs
        return found


DELIVERIES = select(*EVENTS.read, *DELIVERY_READ).join_from(
    tables.deliveries, tables.events, tables.events.c.id == tables.deliveries.c.event
)
COLLECTED = DELIVERIES.where(tables.deliveries.c.reason.is_(None))
NEWEST_COLLECTED = COLLECTED.order_by(
    tables.events.c.arrived.desc(),
    tables.events.c.id.desc(),
    tables.deliveries.c.leaf.desc(),
    tables.deliveries.c.schedule.desc(),
).limit(LIMIT)
COUNT_COLLECTED = (
    select(func.count()).select_from(tables.deliveries).where(tables.deliveries.c.reason.is_(None))
)

_SAYS_NOTHING_ELSE = and_(
    *(
        tables.events.c[field].is_(None) if default is None else tables.events.c[field] == default
        for field, default in FURTHER.items()
    )
)
FACTS_COLLECTED = COLLECTED.with_only_columns(
    *(as_held(tables.events.c[field]) for field in FACTS),
    case((_SAYS_NOTHING_ELSE, 1), else_=0).label("is_all"),
    *(
        as_held(tables.deliveries.c[name]).label(f"delivery_{name}")
        for name in ("job", "schedule", "leaf", "at")
    ),
)
AGGREGATES = {
    "sqlite": (func.json_group_array, func.json_array),
    "postgresql": (func.json_agg, func.json_build_array),
}
"""How each database makes one JSON text of rows. That text is read in half of the time that rows take."""

ReportRow = tuple[int, str, str, str, int | None, int | None, int]
_report_rows = msgspec.json.Decoder(list[ReportRow]).decode


@cache
def _reports(dialect: str) -> Statement:
    """Return the query for the reports of a job as one text, and for whether its events are all reports."""
    event = tables.events.c
    row = (event.arrived, event.id, event.key, event.partition, event.rows, event.bytes, event.time)
    every_row, one_row = AGGREGATES[dialect]
    is_report = and_(_SAYS_NOTHING_ELSE, event.kind == EventKind.PARTITION, event.partition.is_not(None))
    return COLLECTED.with_only_columns(
        cast(every_row(one_row(*map(as_held, row))), Text), func.min(case((is_report, 1), else_=0))
    )


_KINDS = {kind.value: kind for kind in EventKind}


class DeliveryReader(Queries):
    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        found: dict[str, list[Delivery]] = {job: [] for job in jobs}
        # `why` asks for a job that does not exist yet and has no id; NO_JOB's deliveries are not its own.
        named = [job for job in found if job != tables.NO_JOB]
        with without_collection():
            rows = self._all(FACTS_COLLECTED, _of_facts, {tables.deliveries.c.job: named})
            for delivery, is_all in rows:
                if is_all:
                    found[delivery.job or tables.NO_JOB].append(delivery)
            for delivery in self._with_whole_events([each for each, is_all in rows if not is_all]):
                found[delivery.job or tables.NO_JOB].append(delivery)
        for each in found.values():
            each.sort(key=delivery_order)
        return {job: tuple(each) for job, each in found.items()}

    def reports(self, job: str) -> tuple[Report, ...] | None:
        ((text, all_are),) = self._all(_reports(self._dialect), tuple, None, {tables.deliveries.c.job: job})
        if not all_are:
            return () if all_are is None else None
        with without_collection():
            try:
                rows = sorted(_report_rows(text))
            except UNREADABLE:
                # What reads row by row leaves out the damaged ones.
                return None
            # An event that several leaves have collected has several rows.
            return tuple(
                Report(key=key, partition=partition, rows=rows, bytes=size, time=instant(time))
                for (_, _, key, partition, rows, size, time), _ in groupby(rows)
            )

    def _with_whole_events(self, deliveries: Collection[Delivery]) -> list[Delivery]:
        """Return deliveries with all that their events say, without those whose event's row is damaged."""
        if not deliveries:
            return []
        ids = {each.event.id for each in deliveries}
        whole = {
            event.id: event for event in self._all(every(EVENTS), EVENTS.value, {tables.events.c.id: ids})
        }
        return [
            msgspec.structs.replace(each, event=whole[each.event.id])
            for each in deliveries
            if each.event.id in whole
        ]

    def newest_deliveries(self, job: str, limit: int) -> tuple[Delivery, ...]:
        found = self._all(NEWEST_COLLECTED, delivery_of, None, {tables.deliveries.c.job: job}, limit=limit)
        return tuple(found[::-1])

    def count_deliveries(self, job: str) -> int:
        (found,) = self._all(COUNT_COLLECTED, tuple[int], None, {tables.deliveries.c.job: job})
        return found[0]

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        found = self._all(DELIVERIES, delivery_of, {tables.deliveries.c.event: events})
        return tuple(sorted(found, key=lambda d: (d.event.id, d.schedule, d.leaf, d.job or "")))


def _of_facts(row: Row) -> tuple[Delivery, bool]:
    """Return the delivery of a row of `FACTS_COLLECTED`, and whether these are all the facts of its event."""
    id, kind, key, time, arrived, partition, size, rows, run, detail, is_all, job, schedule, leaf, at = row
    arrival = instant(arrived)
    # Most instants of a delivery are the same: each is made once.
    event = Event(
        id=id,
        kind=_KINDS[kind],
        key=key,
        time=arrival if time == arrived else instant(time),
        arrived=arrival,
        partition=partition,
        bytes=size,
        rows=rows,
        run_id=run,
        detail=detail,
    )
    when = arrival if at == arrived else instant(at)
    return Delivery(event=event, schedule=schedule, leaf=leaf, job=job, at=when), is_all
