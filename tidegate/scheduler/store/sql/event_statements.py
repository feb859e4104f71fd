"""The statements of pages of events; see `event_pages.reader`.

Each returns the places of events, arrival and id, the newest first. An index has the events of a key and the
deliveries of a schedule in this order, and each statement begins where the page does. Parameters: `since`,
`until` and `behind` (the page), `limit`, and the filters by their names.
"""

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    type_coerce,
)

from tidegate.domain.value import Value
from tidegate.scheduler.model.job import UNFINISHED, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.statements.bulk import among, in_query
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Statement
from tidegate.scheduler.store.wanted import Outcome

SINCE, UNTIL = bindparam("since", type_=Instant), bindparam("until", type_=Instant)
BEHIND = bindparam("behind", type_=Text)
ENDED = bindparam("ended", type_=Instant)
LOOKED_AT = bindparam("looked_at", type_=Integer)
"""How many rows are looked at, the newest ones of the page."""

_E, _D, _J = tables.events.c, tables.deliveries.c, tables.jobs.c
_WAITING = tuple(state for state in UNFINISHED if state is not JobState.LAUNCHED)
_NOT_LAUNCHED = _J.reason == Reason.F_LAUNCH
_IN_STATE: dict[Outcome | None, tuple[ColumnElement[bool], ...]] = {
    None: (),
    Outcome.SUCCEEDED: (_J.state == JobState.SUCCEEDED,),
    Outcome.RUNNING: (_J.state == JobState.LAUNCHED,),
    Outcome.FAILED: (_J.state == JobState.FAILED, or_(_J.reason.is_(None), ~_NOT_LAUNCHED)),
    Outcome.PENDING: (_J.state.in_(_WAITING),),
    Outcome.DISCARDED: (
        _J.state.in_((JobState.DISCARDED, JobState.FAILED)),
        or_(_J.state == JobState.DISCARDED, _NOT_LAUNCHED),
    ),
}
"""The jobs whose events have an outcome; see `store.ledger.outcome_of`."""


SCHEDULE_OF_JOB = select(_J.schedule, _J.ended_at).where(_J.id == bindparam("job"))


class Shape(Value, kw_only=True):
    """Which filters there are; the values of all but the outcome are parameters."""

    dialect: str
    key: bool
    prefix: bool
    partition: bool
    schedule: bool
    job: bool
    outcome: Outcome | None
    reason: bool
    apps: bool

    @property
    def has_outcome(self) -> bool:
        return self.outcome is not None or self.reason

    @property
    def of_delivery(self) -> bool:
        return self.has_outcome or self.schedule or self.job

    @property
    def discarded(self) -> bool:
        """Whether events that were discarded on arrival, or have left their job, can match."""
        return self.outcome in (None, Outcome.DISCARDED)


def _in_page(arrived: ColumnElement[Any], id: ColumnElement[Any]) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions on the places of a page; the first two alone tell an index where to read."""
    return arrived >= SINCE, arrived <= UNTIL, or_(arrived < UNTIL, id < BEHIND)


def unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a column as no index has it.

    SQLite does not know how many rows match, and would choose an index of too many.
    """
    if isinstance(column.type, Instant):
        return type_coerce(column.op("+")(literal_column("0")), Instant)
    return column.concat("")


def _newest(query: Statement, arrived: ColumnElement[Any], id: ColumnElement[Any]) -> Statement:
    return query.order_by(arrived.desc(), id.desc()).limit(LIMIT)


def _of_event(shape: Shape, of: Any = _E) -> list[ColumnElement[bool]]:
    """Return the filters on the columns of an event."""
    found: list[ColumnElement[bool]] = []
    if shape.key:
        found.append(of.key == bindparam("key"))
    if shape.prefix:
        found.append(of.key.between(bindparam("first"), bindparam("last")))
    if shape.partition:
        found.append(of.partition == bindparam("partition"))
    return found


def _app(dialect: str, name: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the app of "app/name"."""
    if dialect == "postgresql":
        return func.split_part(name, "/", 1)
    return func.substr(name, 1, func.instr(name, "/") - 1)


def _app_of_key(dialect: str, key: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the app of "kind:app/name"."""
    if dialect == "postgresql":
        return _app(dialect, func.split_part(key, ":", 2))
    return _app(dialect, func.substr(key, func.instr(key, ":") + 1))


def _of_delivery(shape: Shape, of: Any, *, found_already: bool = False) -> list[ColumnElement[bool]]:
    """Return the filters on the columns of a delivery, but outcome and reason.

    Args:
        found_already: the deliveries are looked up by their event or job, and not by their schedule.
    """
    found: list[ColumnElement[bool]] = []
    if shape.schedule:
        schedule = unindexed(of.schedule) if found_already else of.schedule
        found.append(schedule == bindparam("schedule"))
    elif shape.apps:
        found.append(among(shape.dialect, _app(shape.dialect, of.schedule), "apps"))
    if shape.job:
        found.append(of.job == bindparam("job"))
    return found


def _in_state(shape: Shape) -> list[ColumnElement[bool]]:
    """Return the conditions on a job whose events match."""
    found = [*_IN_STATE[shape.outcome]]
    if shape.schedule:
        found.append(_J.schedule == bindparam("schedule"))
    if shape.reason:
        found.append(_J.reason == bindparam("reason"))
    return found


def _left(shape: Shape, of: Any) -> list[ColumnElement[bool]]:
    """Return the conditions on a delivery that was discarded itself, and by no other leaf is in the job."""
    kept = tables.deliveries.alias("kept")
    in_job = exists().where(
        kept.c.job == of.job,
        kept.c.event == of.event,
        kept.c.schedule == of.schedule,
        kept.c.reason.is_(None),
    )
    found = [of.reason.is_not(None), or_(of.job == tables.NO_JOB, ~in_job)]
    if shape.reason:
        found.append(of.reason == bindparam("reason_of_delivery", type_=Text))
    return found


def _became(shape: Shape, of: Any) -> list[ColumnElement[bool]]:
    """Return the condition on a delivery, joined with its job, that has the outcome and the reason.

    The job is judged within a CASE, which no index answers: SQLite would begin at all jobs of the state.
    """
    matches = case((and_(_J.id.is_not(None), *_in_state(shape)), 1), else_=0) == 1
    in_job = and_(of.reason.is_(None), matches)
    return [or_(in_job, and_(*_left(shape, of)))] if shape.discarded else [in_job]


@cache
def of_events(shape: Shape) -> Statement:
    """Return the query for events by the filters on the event alone."""
    # Of one partition there are few, and an index has them in no order.
    arrived = unindexed(_E.arrived) if shape.partition else _E.arrived
    return _newest(
        select(_E.arrived, _E.id).where(*_of_event(shape), *_in_page(arrived, _E.id)), arrived, _E.id
    )


@cache
def among_newest_events(shape: Shape) -> Statement:
    """Return the query for those that match among the newest events of a key, or of all."""
    looked_at = select(_E.arrived, _E.id, _E.key, _E.partition)
    if shape.key:
        looked_at = looked_at.where(_E.key == bindparam("key"))
    if shape.key and shape.partition:
        # See `of_events`.
        looked_at = looked_at.where(_E.partition == bindparam("partition"))
        looked_at = looked_at.where(*_in_page(unindexed(_E.arrived), _E.id))
    else:
        looked_at = looked_at.where(*_in_page(_E.arrived, _E.id))
        looked_at = looked_at.order_by(_E.arrived.desc(), _E.id.desc()).limit(LOOKED_AT)
    of = looked_at.subquery("looked_at")
    query = select(of.c.arrived, of.c.id).distinct().where(*_of_event(shape, of.c))
    return _newest(_with_deliveries(query, of, shape), of.c.arrived, of.c.id)


def _with_deliveries(query: Statement, of: FromClause, shape: Shape) -> Statement:
    if shape.of_delivery:
        query = query.join_from(of, tables.deliveries, _D.event == of.c.id)
        query = query.where(*_of_delivery(shape, _D, found_already=True))
        if shape.has_outcome:
            query = query.outerjoin(tables.jobs, _J.id == _D.job).where(*_became(shape, _D))
    elif shape.apps:
        query = query.where(among(shape.dialect, _app_of_key(shape.dialect, of.c.key), "apps"))
    return query


@cache
def among_newest_deliveries(shape: Shape) -> Statement:
    """Return the query for those that match among the newest deliveries of a schedule."""
    of = (
        select(_D.arrived, _D.event, _D.schedule, _D.job, _D.reason)
        .where(_D.schedule == bindparam("schedule"), *_in_page(_D.arrived, _D.event))
        .order_by(_D.arrived.desc(), _D.event.desc())
        .limit(LOOKED_AT)
        .subquery("looked_at")
    )
    query = select(of.c.arrived, of.c.event).distinct()
    if shape.job:
        query = query.where(of.c.job == bindparam("job"))
    if shape.has_outcome:
        query = query.outerjoin_from(of, tables.jobs, _J.id == of.c.job).where(*_became(shape, of.c))
    return _newest(_of_known_event(query, shape, of.c.event), of.c.arrived, of.c.event)


def _of_known_event(query: Statement, shape: Shape, event: ColumnElement[Any]) -> Statement:
    wanted = _of_event(shape)
    return query.where(exists().where(_E.id == event, *wanted)) if wanted else query


@cache
def of_deliveries(shape: Shape) -> Statement:
    """Return the query for events by the filters on their deliveries, but outcome and reason."""
    query = select(_D.arrived, _D.event).distinct()
    query = query.where(*_of_delivery(shape, _D, found_already=shape.job), *_in_page(_D.arrived, _D.event))
    return _newest(_of_known_event(query, shape, _D.event), _D.arrived, _D.event)


@cache
def jobs_in_state(shape: Shape) -> Statement:
    """Return the query for how many jobs match, up to the parameter `jobs_counted`."""
    found = select(_J.id).where(*_in_state(shape)).limit(bindparam("jobs_counted", type_=Integer))
    return select(func.count()).select_from(found.subquery("found"))


@cache
def ended_jobs(shape: Shape) -> Statement:
    """Return the query for the instant and the id of jobs that match, from the one that ended last on."""
    found = select(_J.ended_at, _J.id).where(*_in_state(shape), _J.ended_at <= ENDED)
    found = found.where(or_(_J.ended_at < ENDED, _J.id < bindparam("ended_id", type_=Text)))
    if shape.apps:
        found = found.where(among(shape.dialect, _J.app, "apps"))
    return _newest(found, _J.ended_at, _J.id)


@cache
def in_jobs(shape: Shape, *, given: bool = False) -> Statement:
    """Return the query for events that have the outcome and the reason of the job that they are in.

    Args:
        given: the jobs are a parameter, `jobs`.
    """
    if given:
        of_jobs = among(shape.dialect, tables.deliveries.c.job, "jobs")
    else:
        wanted = select(_J.id).where(*_in_state(shape)).scalar_subquery()
        of_jobs = in_query(shape.dialect, tables.deliveries.c.job, wanted)
    query = select(_D.arrived, _D.event).distinct().where(_D.reason.is_(None), of_jobs)
    query = query.where(*_of_delivery(shape, _D, found_already=True), *_in_page(_D.arrived, _D.event))
    return _newest(_of_known_event(query, shape, _D.event), _D.arrived, _D.event)


@cache
def not_in_jobs(shape: Shape) -> Statement:
    """Return the query for events that were discarded on arrival, or have left their job."""
    query = select(_D.arrived, _D.event).distinct().where(*_left(shape, _D))
    query = query.where(*_of_delivery(shape, _D), *_in_page(_D.arrived, _D.event))
    return _newest(_of_known_event(query, shape, _D.event), _D.arrived, _D.event)


@cache
def newest_of_keys(*, partition: bool) -> Statement:
    """Return the query for the keys of events, each with the arrival of its newest event of the page.

    Each key is one look-up of the next one in an index; DISTINCT would read all events.
    """
    last = bindparam("last", type_=Text)
    first = select(func.min(_E.key).label("key")).where(_E.key >= bindparam("first"), _E.key <= last)
    found = first.cte("found", recursive=True)
    following = select(func.min(_E.key)).where(_E.key > found.c.key, _E.key <= last)
    step = select(following.scalar_subquery().correlate(found)).where(found.c.key.is_not(None))
    found = found.union_all(step)
    arrived = unindexed(_E.arrived) if partition else _E.arrived
    newest = select(_E.arrived).where(_E.key == found.c.key, *_in_page(arrived, _E.id))
    if partition:
        newest = newest.where(_E.partition == bindparam("partition"))
    newest = newest.order_by(arrived.desc(), _E.id.desc()).limit(1)
    return select(found.c.key, newest.scalar_subquery().correlate(found).label("newest")).where(
        found.c.key.is_not(None)
    )
