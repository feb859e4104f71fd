"""Totals that each transaction keeps, so that the ledger and metrics cost the same however much is stored.

    kind      place      label      reason
    events    app        kind
    launches  app
    runs      app        status
    jobs      app        state      reason      finished jobs only
    ledger    schedule   outcome    reason      events of finished jobs, and the daily sums
    outcomes  app        outcome    reason      the same by app
    changes   ""                                transactions that have changed a row
    changes   commits                           those of commit sequences, which have a lock of their own

A transaction adds what it changes, and is one of a queue of writers. So a total is exact at each instant.

What a job counts depends on the job and on its deliveries, which change one after the other. So a job that
was finished is taken out of the totals before the first change to it, and one that is finished at the end
of the transaction is added.

The ledger is made of totals, and of a query for what is not finished.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
)

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.job import FINISHED, UNFINISHED, Job
from tidegate.scheduler.model.run import Launched, Run
from tidegate.scheduler.store.answers import LedgerRow, of_event_key
from tidegate.scheduler.store.ledger import ledger_rows, outcome_of
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT, Name
from tidegate.scheduler.store.sql.connection.engine import has_changed
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import among, in_query, listed
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, Statement

EVENTS, LAUNCHES, RUNS, JOBS = "events", "launches", "runs", "jobs"
LEDGER, OUTCOMES = "ledger", "outcomes"
CHANGES, COMMITS = "changes", "commits"

PULSES = ("clock", "ticked", "host")
"""Cursors whose change says no more than that time has passed: the instants of ticks, the leases of hosts."""

totals = Table(
    "totals",
    metadata,
    Column("kind", Name, primary_key=True),
    Column("place", Name, primary_key=True),
    Column("label", Name, primary_key=True),
    Column("reason", Name, primary_key=True),
    Column("number", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)


def counted(
    where: Sequence[ColumnElement[bool]], besides: Sequence[ColumnElement[Any]] = ()
) -> Select[*tuple[Any, ...]]:
    """Return the query for the number of events of each schedule, by state, reason and further columns.

    The inner query has one row for each event and job. `kept` is 1 if the event has not left the job.
    Deliveries of pruned jobs do not count: the sums have them (`retention`).

    Args:
        where: conditions on the deliveries.
        besides: columns of the job.
    """
    delivery, job = tables.deliveries, tables.jobs
    key = (delivery.c.schedule, delivery.c.job, delivery.c.event)
    kept = func.max(case((delivery.c.reason.is_(None), 1), else_=0)).label("kept")
    each = select(*key, kept, func.min(delivery.c.reason).label("reason")).where(*where).group_by(*key)
    event = each.subquery()
    in_job = event.c.kept == 1
    state = case((in_job, job.c.state)).label("state")
    reason = case((and_(in_job, job.c.id.is_not(None)), job.c.reason), else_=event.c.reason).label("reason")
    return (
        select(event.c.schedule, state, reason, *besides, func.count().label("events"))
        .join_from(event, job, job.c.id == event.c.job, isouter=True)
        .where(or_(event.c.job == tables.NO_JOB, job.c.id.is_not(None)))
        .group_by(event.c.schedule, state, reason, *besides)
    )


_UNFINISHED = select(tables.jobs.c.id).where(tables.jobs.c.state.in_(UNFINISHED)).scalar_subquery()
_OF_KIND = (totals.c.kind == bindparam("kind"), totals.c.number != 0)
_AFTER, _UNTIL = totals.c.place > bindparam("after"), totals.c.place <= bindparam("until")
TOTALS = select(totals.c.place, totals.c.label, totals.c.reason, totals.c.number).where(*_OF_KIND)
TOTALS_BETWEEN = TOTALS.where(_AFTER, _UNTIL)
PLACES_BETWEEN = select(totals.c.place).distinct().where(*_OF_KIND, _AFTER, _UNTIL)
FIRST_PLACES = PLACES_BETWEEN.order_by(totals.c.place).limit(LIMIT)


@cache
def _live(dialect: str, *, of_app: bool) -> tuple[Statement, Statement]:
    """Return the queries for events of unfinished jobs, and for those that were discarded on arrival."""
    delivery = tables.deliveries.c
    narrowed = [delivery.schedule > bindparam("after"), delivery.schedule <= bindparam("until")]
    more = narrowed if of_app else []
    unfinished = in_query(dialect, delivery.job, _UNFINISHED)
    return counted([unfinished, *more]), counted([delivery.job == tables.NO_JOB, *more])


class TotalReader(Queries):
    """Reads totals."""

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        prefix = "" if app is None else f"{app}/"
        until = f"{prefix}{LAST_CODE_POINT}"
        groups = [row for row in self._live(prefix, until) if row.schedule > after]
        between = {"kind": LEDGER, "after": max(prefix, after), "until": until}
        if limit is not None:
            first = self._connection.execute(FIRST_PLACES, {**between, "limit": limit}).scalars()
            names = sorted({*first, *(row.schedule for row in groups)})[:limit]
            between["until"] = until = names[-1] if names else ""
        found = self._connection.execute(TOTALS_BETWEEN, between).all()
        return ledger_rows(
            ((row.schedule, row.state, row.reason, row.events) for row in groups if row.schedule <= until),
            ((row.place, row.label, row.reason, row.number) for row in found),
        )

    def _outcomes(self) -> Counter[tuple[str, str, str]]:
        """Return the events of each app by outcome and reason."""
        found: Counter[tuple[str, str, str]] = Counter()
        for app, outcome, reason, number in self._totals(OUTCOMES):
            found[app, outcome, reason] += number
        for row in self._live("", ""):
            found[app_of(row.schedule), *outcome_of(row.state, row.reason)] += row.events
        return found

    def _live(self, after: str, until: str) -> list[Any]:
        """Return the groups of events that the totals do not have; of all schedules without `after`."""
        queries = _live(self._dialect, of_app=bool(after))
        given = {"after": after, "until": until} if after else {}
        return [row for query in queries for row in self._connection.execute(query, given)]

    def _totals(self, kind: str) -> list[Any]:
        """Return place, label, reason and number of each total of a kind."""
        return list(self._connection.execute(TOTALS, {"kind": kind}).all())


NAMES = ("kind", "place", "label", "reason", "number")
_JOBS = tables.jobs.c


STATES = select(_JOBS.id, _JOBS.app, _JOBS.state, _JOBS.reason)
"""Not of finished jobs only: SQLite would look among all of these for the wanted ones."""

HOLDERS = select(tables.launches.c.holder)
LAUNCHED_PROGRAMS = select(tables.launches.c.program)
RUN_STATUSES = select(tables.runs.c.program, tables.runs.c.status)
EVENT_KEYS = select(tables.events.c.key, tables.events.c.number)
ROWS_OF_SEVERAL = (
    select(tables.deliveries.c.schedule, tables.deliveries.c.reason, tables.events.c.number)
    .join_from(tables.deliveries, tables.events, tables.events.c.id == tables.deliveries.c.event)
    .where(tables.events.c.number > 1)
)
JOBS_OF_EVENTS = select(tables.deliveries.c.job).distinct()


@cache
def _events_of(dialect: str) -> Statement:
    # Not narrowed like the others: the condition is one of the inner query.
    return counted([among(dialect, tables.deliveries.c.job, "ids")])


class TotalWriter(Changes):
    """Keeps the totals of a transaction.

    Attributes:
        _changes: what is to be added to each total.
        _out: the jobs that the totals do not count at the moment.
        _ended: of these, the jobs that may be finished.
        _unfinished: jobs that are not finished, as they are in the store; the totals do not count them.
    """

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._changes: Counter[tuple[str, str, str, str]] = Counter()
        self._out: set[str] = set()
        self._ended: set[str] = set()
        self._unfinished: set[str] = set()

    def settle(self) -> None:
        """Add all changes to the totals, and count the transaction if it has changed anything."""
        self._count_finished(self._ended, 1)
        if has_changed(self._connection):
            self._count(CHANGES, "", 1)
        self._out.clear()
        self._ended.clear()
        rows = [(*key, number) for key, number in self._changes.items() if number]
        bulk.insert(self._connection, totals, NAMES, rows, on_conflict="add")
        self._changes.clear()

    def _count(self, kind: str, place: str, number: int, label: str = "", reason: str = "") -> None:
        self._changes[kind, place, label, reason] += number

    def _count_outcome(self, schedule: str, number: int, outcome: str, reason: str) -> None:
        self._count(LEDGER, schedule, number, outcome, reason)
        self._count(OUTCOMES, app_of(schedule), number, outcome, reason)

    def _count_events(self, events: Iterable[Event]) -> None:
        for event in events:
            self._count_event(event.key, event.number)

    def _count_event(self, key: str, number: int) -> None:
        app, kind = of_event_key(key)
        self._count(EVENTS, app, number, kind)

    def _count_fires_in_a_row(self, deliveries: Iterable[Delivery]) -> None:
        """Count the further fires of deliveries of several; each is a row, which counts as one."""
        for each in deliveries:
            if each.event.number > 1:
                more = each.event.number - 1
                self._count_outcome(each.schedule, more, *outcome_of(None, each.reason))

    def _count_launches(self, launches: Iterable[Launched]) -> None:
        """Count launches that are about to be added; the first one of a holder stays."""
        new = {each.holder: each for each in reversed(list(launches))}
        known = {holder for (holder,) in self._rows_having(HOLDERS, tables.launches.c.holder, new)}
        for holder, each in new.items():
            if holder not in known:
                self._count(LAUNCHES, app_of(each.program), 1)

    def _uncount_launches(self, holders: Collection[str]) -> None:
        for (program,) in self._rows_having(LAUNCHED_PROGRAMS, tables.launches.c.holder, holders):
            self._count(LAUNCHES, app_of(program), -1)

    def _count_runs(self, runs: Iterable[Run]) -> None:
        """Count runs that are about to be put."""
        new = {run.run_id: run for run in runs}
        self._uncount_runs(new)
        for run in new.values():
            self._count(RUNS, app_of(run.program), 1, str(run.status))

    def _uncount_runs(self, ids: Collection[str]) -> None:
        for program, status in self._rows_having(RUN_STATUSES, tables.runs.c.run_id, ids):
            self._count(RUNS, app_of(program), -1, str(status))

    def _uncount_events(self, ids: Collection[str]) -> None:
        """Count events out that are about to go, with their deliveries."""
        for key, number in self._rows_having(EVENT_KEYS, tables.events.c.id, ids):
            self._count_event(key, -number)
        for schedule, reason, number in self._rows_having(ROWS_OF_SEVERAL, tables.deliveries.c.event, ids):
            self._count_outcome(schedule, 1 - number, *outcome_of(None, reason))
        self._take_out({job for (job,) in self._rows_having(JOBS_OF_EVENTS, tables.deliveries.c.event, ids)})

    def _count_jobs(self, jobs: Iterable[Job]) -> None:
        """Count jobs that are about to be put."""
        found = {job.id: job for job in jobs}
        self._take_out(found)
        ended = {id for id, job in found.items() if job.state in FINISHED}
        self._ended |= ended
        self._unfinished |= found.keys() - ended
        self._unfinished -= ended

    def _noted(self, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        """Note which of some jobs that were read are unfinished, and return all of them."""
        self._unfinished.update(job.id for job in jobs if job.state not in FINISHED)
        return jobs

    def _take_out(self, jobs: Collection[str]) -> None:
        """Take jobs out of the totals that are about to change, themselves or their deliveries."""
        asked = set(jobs) - self._out - {tables.NO_JOB}
        self._out |= asked
        self._ended |= self._count_finished(asked - self._unfinished, -1)

    def _count_finished(self, jobs: Collection[str], sign: int) -> set[str]:
        """Count those of some jobs that are finished, and return them."""
        finished: set[str] = set()
        for id, app, state, reason in self._rows_having(STATES, _JOBS.id, jobs):
            if state in FINISHED:
                finished.add(id)
                self._count(JOBS, app, sign, str(state), reason or "")
        if finished:
            given = {"ids": listed(self._dialect, finished)}
            for row in self._connection.execute(_events_of(self._dialect), given):
                self._count_outcome(row.schedule, sign * row.events, *outcome_of(row.state, row.reason))
        return finished

    def _rows_having(self, query: Statement, column: Column[Any], names: Collection[str]) -> list[Any]:
        """Return the rows that have some names in a column; nothing is asked for none."""
        return self._all(query, tuple, {column: names}) if names else []
