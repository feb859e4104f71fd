"""The work of a span of time in SQL, for the first page of the board and its time line.

Lanes are counted before their jobs are read. What has ended is found by its end, in `ix_jobs_ended`, which
has all that is counted; what has not is few. Of each lane the newest jobs are read, of each schedule the
last runs, and of each dataset the last arrivals: each costs what is shown.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Text,
    bindparam,
    case,
    func,
    or_,
    select,
    type_coerce,
    union_all,
)

from tidegate.domain.part_name import SEPARATOR
from tidegate.scheduler.model.event import PARTITION_KEY
from tidegate.scheduler.model.instance import instance_resource
from tidegate.scheduler.model.job import FINISHED, JOB_ID_HEX_DIGITS, UNFINISHED, Job, JobState
from tidegate.scheduler.model.maintenance import POLICY
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import HOURS, Awaiting, EndedWork, LaneCount, OpenWork
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant, Stored, as_held, instant, microseconds
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, Statement

_JOBS, _RUNS, _SCHEDULES, _EVENTS = tables.jobs.c, tables.runs.c, tables.schedules.c, tables.events.c
_SINCE, _UNTIL = bindparam("since", type_=Instant()), bindparam("until", type_=Instant())
_NOW = bindparam("now", type_=BigInteger)
_ONE_HOUR = timedelta(hours=1) // timedelta(microseconds=1)
_OPEN = _JOBS.state.in_(UNFINISHED)
_ENDED = _JOBS.state.in_(sorted(FINISHED))
_STATES_THAT_WAIT = (JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT, JobState.PAUSED)


def _hours_ago(column: ColumnElement[Any]) -> ColumnElement[int]:
    """Return how many hours before `now` an instant is, `HOURS` for more of them, 0 for what is ahead."""
    hours = (_NOW - type_coerce(column, BigInteger)) // _ONE_HOUR
    return case((column.is_(None), None), (hours > HOURS, HOURS), (hours < 0, 0), else_=hours)


_OPEN_IN_SPAN = (_OPEN, _JOBS.opened_at <= _UNTIL)
_ENDED_IN_SPAN = (_ENDED, _JOBS.ended_at >= _SINCE, type_coerce(_JOBS.opened_at, BigInteger) + 0 <= _UNTIL)

# --- lanes ------------------------------------------------------------------------------

_QUEUED = or_(
    _JOBS.state == JobState.PENDING_LAUNCH, _RUNS.status.in_((RunStatus.QUEUED, RunStatus.STARTING))
)
OPEN_LANES = (
    select(
        _JOBS.schedule,
        _JOBS.state,
        func.count().label("jobs"),
        func.count(_JOBS.late_of).label("late"),
        func.count(case((_JOBS.reason == Reason.W_HELD, 1))).label("held"),
        func.count(case((_QUEUED, 1))).label("queued"),
    )
    .join_from(tables.jobs, tables.runs, _RUNS.run_id == _JOBS.run_id, isouter=True)
    .where(_OPEN, _JOBS.opened_at <= _UNTIL, or_(_JOBS.scheduled_at.is_(None), _JOBS.scheduled_at <= _UNTIL))
    .group_by(_JOBS.schedule, _JOBS.state)
)
ENDED_LANES = (
    select(_JOBS.schedule, _JOBS.state, func.count().label("jobs"))
    .where(*_ENDED_IN_SPAN)
    .group_by(_JOBS.schedule, _JOBS.state)
)
FIRE_LANES = select(_SCHEDULES.ref).where(_SCHEDULES.due_at <= _UNTIL)

# --- the jobs of lanes ------------------------------------------------------------------

_NAMES: tuple[str, ...] = (
    "id",
    "schedule",
    "key",
    "state",
    "reason",
    "opened_at",
    "first_event_at",
    "satisfied_at",
    "next_check_at",
    "blocked_on",
    "by_hand",
    "attempt",
    "gave_back",
    "run_id",
    "decided_at",
    "launched_at",
    "ended_at",
    "retry_at",
    "held_at",
    "held_for",
    "instance",
    "late_at",
)
"""The fields of a job that a time line needs; not its launch, which can be long."""

_COLUMNS = [_JOBS[name] for name in _NAMES]
_RESTORED = [(each.key, each.type.restored) for each in _COLUMNS if isinstance(each.type, Stored)]


@cache
def _newest(dialect: str, *, ended: bool) -> Statement:
    """Return the query for the newest jobs of each of some lanes, up to `limit`."""
    order, schedule = (_JOBS.ended_at, _JOBS.schedule + "") if ended else (_JOBS.opened_at, _JOBS.schedule)
    number = func.row_number().over(partition_by=_JOBS.schedule, order_by=(order.desc(), _JOBS.id.desc()))
    rows = select(*(as_held(each) for each in _COLUMNS), number.label("number"))
    # What has ended is found by its end, and only then by its lane: a lane may have a long past. The empty
    # text says so to both databases.
    rows = rows.where(*(_ENDED_IN_SPAN if ended else _OPEN_IN_SPAN), among(dialect, schedule, "lanes"))
    found = rows.subquery("newest")
    return select(*(found.c[name] for name in _NAMES)).where(found.c.number <= LIMIT)


# --- the last of several ----------------------------------------------------------------

_LAST_RUNS = (
    select(
        _JOBS.schedule, (type_coerce(_RUNS.ended_at, BigInteger) - type_coerce(_RUNS.started_at, BigInteger))
    )
    .join_from(tables.jobs, tables.runs, _RUNS.run_id == _JOBS.run_id)
    .where(_JOBS.state == JobState.SUCCEEDED, _RUNS.started_at.is_not(None), _RUNS.ended_at.is_not(None))
    .order_by(_JOBS.opened_at.desc())
)
_LAST_ARRIVALS = select(_EVENTS.key, as_held(_EVENTS.arrived)).order_by(_EVENTS.arrived.desc())

# --- numbers, and what waits ------------------------------------------------------------

_BEGUN = func.coalesce(_RUNS.started_at, _JOBS.launched_at)
_OPERATION = _JOBS.maintenance.is_not(None)
_OF_POLICY = _JOBS.schedule.contains(f"{SEPARATOR}{POLICY}", autoescape=True)
"""The same by its lane, which is in the index of what has ended."""
OPEN_WORK = (
    select(
        _JOBS.state,
        _JOBS.reason,
        _RUNS.status.label("run"),
        _OPERATION.label("operation"),
        _JOBS.app,
        _hours_ago(func.coalesce(_JOBS.launched_at, _JOBS.held_at)).label("begun_hours"),
        _hours_ago(_JOBS.opened_at).label("opened_hours"),
        func.count().label("jobs"),
        func.min(_JOBS.opened_at, type_=Instant()).label("oldest"),
        func.min(_BEGUN, type_=Instant()).label("begun"),
    )
    .join_from(tables.jobs, tables.runs, _RUNS.run_id == _JOBS.run_id, isouter=True)
    .where(_OPEN)
    .group_by("state", "reason", "run", "operation", "app", "begun_hours", "opened_hours")
)
ENDED_WORK = (
    select(
        _JOBS.state,
        _OF_POLICY.label("operation"),
        _hours_ago(_JOBS.ended_at).label("ended_hours"),
        _hours_ago(_JOBS.launched_at).label("begun_hours"),
        _hours_ago(_JOBS.opened_at).label("opened_hours"),
        func.count().label("jobs"),
    )
    .where(_ENDED, _JOBS.ended_at >= _SINCE)
    .group_by(_JOBS.state, "operation", "ended_hours", "begun_hours", "opened_hours")
)
_INSTANCE = instance_resource("")
# The id of an instance is its task and a hash: those of one task are one group.
_AWAITED = case(
    (
        func.substr(_JOBS.blocked_on, 1, len(_INSTANCE)) == _INSTANCE,
        func.substr(_JOBS.blocked_on, 1, func.length(_JOBS.blocked_on) - JOB_ID_HEX_DIGITS - 1),
    ),
    else_=_JOBS.blocked_on,
)
_PAUSED = _JOBS.state == JobState.PAUSED
_OF_NOTHING = case((_JOBS.blocked_on.is_(None), _JOBS.schedule), else_="")
AWAITING = (
    select(
        _JOBS.reason,
        _AWAITED.label("awaited"),
        _OF_NOTHING.label("of_nothing"),
        _OPERATION.label("operation"),
        _PAUSED.label("paused"),
        func.count().label("jobs"),
        func.min(_JOBS.opened_at, type_=Instant()).label("oldest"),
        func.min(_JOBS.next_check_at, type_=Instant()).label("first_check"),
        func.max(_JOBS.next_check_at, type_=Instant()).label("last_check"),
        func.min(_JOBS.id).label("first_job"),
        func.max(_JOBS.id).label("last_job"),
        func.min(_JOBS.blocked_on).label("first_blocked"),
    )
    .where(_JOBS.state.in_(_STATES_THAT_WAIT))
    .group_by("reason", "awaited", "of_nothing", "operation", "paused")
    .order_by(func.count().desc(), func.min(_JOBS.id))
    .limit(LIMIT)
)


class SpanReader(Queries):
    def lane_counts(
        self, since: datetime, until: datetime, apps: Collection[str] | None = None
    ) -> tuple[LaneCount, ...]:
        lists = {_JOBS.app: apps}
        found = self._all(OPEN_LANES, _lane, lists, until=until)
        found += self._all(ENDED_LANES, _lane, lists, since=since, until=until)
        found += self._all(FIRE_LANES, _lane, {_SCHEDULES.app: apps}, until=until)
        return tuple(found)

    def lane_jobs(
        self, schedules: Collection[str], since: datetime, until: datetime, most: int
    ) -> tuple[Job, ...]:
        lanes: dict[str, Any] = {
            "lanes": listed(self._dialect, schedules),
            "limit": most,
            "until": until,
        }
        found = self._all(_newest(self._dialect, ended=False), _job, **lanes)
        found += self._all(_newest(self._dialect, ended=True), _job, since=since, **lanes)
        return tuple(sorted(found, key=lambda job: (job.opened_at, job.id)))

    def last_durations(self, schedules: Collection[str], most: int) -> dict[str, tuple[timedelta, ...]]:
        found = self._last(_LAST_RUNS, _JOBS.schedule, schedules, most)
        return {
            name: tuple(timedelta(microseconds=number) for number in numbers)
            for name, numbers in found.items()
        }

    def last_arrivals(self, datasets: Collection[str], most: int) -> dict[str, tuple[datetime, ...]]:
        keys = {f"{PARTITION_KEY}{name}": name for name in datasets}
        found = self._last(_LAST_ARRIVALS, _EVENTS.key, keys, most)
        return {keys[key]: tuple(map(instant, numbers)) for key, numbers in found.items()}

    def _last(
        self, query: Statement, column: ColumnElement[str], names: Collection[str], most: int
    ) -> dict[str, list[int]]:
        """Return the numbers of the first rows of each name."""
        found: dict[str, list[int]] = {name: [] for name in sorted(names)}
        if not found:
            return found
        given: dict[str, Any] = {f"name_{n}": name for n, name in enumerate(found)}
        each: Statement = _each(query, column, len(found))
        for name, number in self._all(each, tuple[str, int], **given, limit=most):
            found[name].append(number)
        return found

    def open_work(self, now: datetime, apps: Collection[str] | None = None) -> tuple[OpenWork, ...]:
        return tuple(self._all(OPEN_WORK, _open_work, {_JOBS.app: apps}, now=microseconds(now)))

    def ended_work(self, now: datetime, apps: Collection[str] | None = None) -> tuple[EndedWork, ...]:
        since = now - timedelta(hours=HOURS)
        return tuple(
            self._all(ENDED_WORK, _ended_work, {_JOBS.app: apps}, now=microseconds(now), since=since)
        )

    def awaiting(self, most: int, apps: Collection[str] | None = None) -> tuple[Awaiting, ...]:
        return tuple(self._all(AWAITING, _awaiting, {_JOBS.app: apps}, limit=most))


@lru_cache(128)
def _each(query: Statement, column: ColumnElement[str], number: int) -> Any:
    """Return the query for the first rows, up to `limit`, of so many names, each by the index of its own."""
    each = (
        query.where(column == bindparam(f"name_{n}", type_=Text)).limit(LIMIT).subquery(f"last_{n}")
        for n in range(number)
    )
    return union_all(*(select(*found.c) for found in each))


def _lane(row: Any) -> LaneCount:
    schedule, *counts = row
    names = ("state", "jobs", "late", "held", "queued")
    return LaneCount(schedule=schedule, **dict(zip(names, counts, strict=False)))


def _job(row: Any) -> Job:
    held: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    for name, restored in _RESTORED:
        if held[name] is not None:
            held[name] = restored(held[name])
    return Job(**held)


def _open_work(row: Any) -> OpenWork:
    fields: dict[str, Any] = {**row._asdict(), "operation": bool(row.operation)}
    return OpenWork(**fields)


def _ended_work(row: Any) -> EndedWork:
    fields: dict[str, Any] = {**row._asdict(), "operation": bool(row.operation)}
    return EndedWork(**fields)


def _awaiting(row: Any) -> Awaiting:
    flags = {"operation": bool(row.operation), "paused": bool(row.paused)}
    fields: dict[str, Any] = {**row._asdict(), **flags}
    fields["blocked_on"], fields["schedule"] = fields.pop("awaited"), fields.pop("of_nothing")
    return Awaiting(**fields)
