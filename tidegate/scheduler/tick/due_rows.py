"""Due rows: what a working set begins with, and up to which instant it is complete.

It looks at no row that is not due, so that a tick costs what is due and not what exists.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import TypeVar

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.unfinished import Going, Place

ROWS_PER_PAGE = 5_000
"""Rows of one kind that a query for due rows returns at first; bounds the memory of a working set."""

Row = TypeVar("Row")


class DueRows(Value, kw_only=True):
    """The rows that a working set begins with.

    Attributes:
        events: by arrival, the last one first.
        until: up to when the rows are complete.
        after: more jobs are due at `until`, behind this place; None if none are.
    """

    events: tuple[Event, ...] = ()
    schedules: tuple[ScheduleState, ...] = ()
    jobs: tuple[Job, ...] = ()
    until: datetime
    after: Place | None = None


def due_rows(
    reader: EngineReader, clock: datetime, until: datetime, limit: int | None, going: Going | None
) -> DueRows:
    """Return the rows that are due between the engine's clock and an instant.

    Args:
        limit: of jobs that are due at one instant; None for all.
        going: what is left of the decisions at the clock: no other rows are read.
    """
    if going is not None:
        jobs, _, after = (
            _first_jobs(reader, clock, clock, limit, going.after) if going.after else ((), None, None)
        )
        return DueRows(jobs=tuple(jobs), until=clock, after=after)
    fire = attrgetter("next_fire_at")
    events, arrived = first_page(reader.unrouted_events, attrgetter("arrived"), clock, until)
    states, fires = first_page(lambda size: reader.due_schedules(until, size), fire, clock, until)
    jobs, checks, after = _first_jobs(reader, clock, until, limit)
    reach = min(arrived, fires, checks)
    return DueRows(
        events=tuple(reversed(events)),
        schedules=tuple(states),
        jobs=tuple(jobs),
        until=reach,
        after=after if reach == checks else None,
    )


def _first_jobs(
    reader: EngineReader, clock: datetime, until: datetime, limit: int | None, after: Place | None = None
) -> tuple[Sequence[Job], datetime, Place | None]:
    """Return the first due jobs behind a place, up to when they are complete, and where more are due then."""
    check = attrgetter("next_check_at")
    if limit is None:
        jobs, reach = first_page(lambda size: reader.due_jobs(until, size, after), check, clock, until)
        return jobs, reach, None
    jobs = reader.due_jobs(until, min(limit, ROWS_PER_PAGE), after)
    if len(jobs) < min(limit, ROWS_PER_PAGE):
        return jobs, until, None
    first, last = (each.next_check_at or clock for each in (jobs[0], jobs[-1]))
    if last > max(clock, first):
        return [job for job in jobs if check(job) < last], last - MICROSECOND, None
    return jobs, max(clock, first), (last, jobs[-1].id)


def first_page(
    query: Callable[[int], Sequence[Row]],
    due: Callable[[Row], datetime | None],
    clock: datetime,
    until: datetime,
) -> tuple[list[Row], datetime]:
    """Return the first due rows, and the instant up to which they are complete.

    All rows that are due at one instant, and all late rows, belong together (rule 14): the page
    grows until it reaches beyond them.

    Args:
        query: returns the due rows, earliest first, up to a limit.
        due: the instant at which a row is due.
        clock: rows that were due earlier are late, and are due now.
        until: the last instant to return rows for.
    """
    size = ROWS_PER_PAGE
    while True:
        rows = list(query(size))
        instants = [due(row) or clock for row in rows]
        if len(rows) < size or instants[-1] > until:
            return rows, until
        if instants[-1] > max(clock, instants[0]):
            reach = instants[-1] - MICROSECOND
            return [row for row, instant in zip(rows, instants, strict=True) if instant <= reach], reach
        size *= 4
