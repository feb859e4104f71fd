"""Pages of events in SQL.

An index leads to the events of a key and to those of a schedule, newest first. For other filters no index has
the order, so a page is read in two steps. First the newest events of the page are looked at, some of them:
filters that most events match are answered there. Where that is not enough, few of the newest match, and the
page is read from the other end: from the jobs in the states of the outcome, from what was discarded, or from
the keys. So the work depends on the events that match, and not on those that are newer or do not match.
"""

from datetime import timedelta
from typing import Any

import msgspec

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.event import Event, app_of_key
from tidegate.scheduler.store.sql import event_statements as statements
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import EPOCH, LAST_CODE_POINT, MICROSECOND, instant
from tidegate.scheduler.store.sql.event_statements import Shape
from tidegate.scheduler.store.sql.statements.bulk import listed
from tidegate.scheduler.store.sql.statements.queries import Queries, Statement, every
from tidegate.scheduler.store.sql.statements.rows import EVENTS
from tidegate.scheduler.store.wanted import EventsWanted, Outcome

LOOKED_AT, PER_ITEM = 1_000, 10
"""How many events are looked at before a page is read from the other end: so many, and so many per item."""

MANY_JOBS, MANY_LOOKED_AT = 20_000, 30_000
"""If so many jobs match, so many of the newest events are looked at."""

JOBS_AT_ONCE = 500
"""So many of the jobs that match are looked at, from the one that ended last on, until a page is full."""

SKEW = timedelta(hours=1)
"""A run ends by the clock of its machine, which may be so much behind that of the events."""

ENDED = (Outcome.SUCCEEDED, Outcome.FAILED)
"""The outcomes of events in jobs that have ended."""

LATEST = instant(2**53)
"""Behind every arrival."""

EVENTS_BY_ID = every(EVENTS)

Place = tuple[Any, str]
"""The arrival and the id of an event."""


class EventPageReader(Queries):
    def events_page(self, wanted: EventsWanted, limit: int) -> tuple[Event, ...]:
        if not _sees(wanted, wanted.schedule):
            return ()
        places = self._places(wanted, _shape(self._dialect, wanted), limit)
        found = self._all(EVENTS_BY_ID, EVENTS.value, {tables.events.c.id: [id for _, id in places]})
        return tuple(sorted(found, key=lambda event: (event.arrived, event.id), reverse=True))

    def _places(self, wanted: EventsWanted, shape: Shape, limit: int) -> list[Place]:
        given = self._given(wanted, limit)
        if not wanted.of_delivery:
            if wanted.key is not None:
                seen = wanted.apps is None or app_of_key(wanted.key) in wanted.apps
                return self._found(statements.of_events(shape), given) if seen else []
            if not (shape.prefix or shape.partition or shape.apps):
                return self._found(statements.of_events(shape), given)
            newest = self._found(statements.among_newest_events(shape), given)
            return newest if len(newest) >= limit else self._by_keys(wanted, given)
        if wanted.key is not None and wanted.partition is not None:
            return self._found(statements.among_newest_events(shape), given)
        if wanted.job is not None:
            newest = self._newest_of_job(wanted, given)
            return newest if len(newest) >= limit else self._delivered(wanted, shape, given)
        if wanted.key is None and (_by_ends(wanted) or not wanted.has_outcome):
            return self._delivered(wanted, shape, given)
        by_schedule = wanted.key is None and wanted.schedule is not None
        query = (statements.among_newest_deliveries if by_schedule else statements.among_newest_events)(shape)
        newest = self._found(query, given)
        if len(newest) < limit and self._are_many(shape, given):
            newest = self._found(query, {**given, "looked_at": MANY_LOOKED_AT})
        return newest if len(newest) >= limit else self._delivered(wanted, shape, given)

    def _newest_of_job(self, wanted: EventsWanted, given: dict[str, Any]) -> list[Place]:
        """Return the places of those that match among the newest deliveries of the job's schedule.

        A job has collected its events before it ended, the newest of them before the schedule's later ones.
        """
        job = self._connection.execute(statements.SCHEDULE_OF_JOB, given).one_or_none()
        if job is None or wanted.schedule not in (None, job.schedule) or not _sees(wanted, job.schedule):
            return []
        page = given["until"], given["behind"]
        if job.ended_at is not None:
            page = min(page, (job.ended_at + MICROSECOND, ""))
        narrowed = {**given, "schedule": job.schedule, "until": page[0], "behind": page[1]}
        shape = _shape(self._dialect, msgspec.structs.replace(wanted, schedule=job.schedule))
        return self._found(statements.among_newest_deliveries(shape), narrowed)

    def _are_many(self, shape: Shape, given: dict[str, Any]) -> bool:
        """Return whether so many jobs match that it is better to look at more of the newest events first."""
        if not shape.has_outcome:
            return False
        counted = {**given, "jobs_counted": MANY_JOBS}
        return self._connection.execute(statements.jobs_in_state(shape), counted).scalar() == MANY_JOBS

    def _delivered(self, wanted: EventsWanted, shape: Shape, given: dict[str, Any]) -> list[Place]:
        """Return the places of all events whose deliveries match."""
        if not wanted.has_outcome:
            return self._found(statements.of_deliveries(shape), given)
        if _by_ends(wanted):
            return self._of_last_ended(shape, given)
        found = set(self._found(statements.in_jobs(shape), given))
        if shape.discarded:
            found.update(self._found(statements.not_in_jobs(shape), given))
        return sorted(found, reverse=True)[: given["limit"]]

    def _of_last_ended(self, shape: Shape, given: dict[str, Any]) -> list[Place]:
        """Return the places of events in the jobs that match, from those that ended last on.

        The events of a job arrived before it ended: those of earlier ones are not among the newest.
        """
        found = set[Place]()
        last: Place = LATEST, ""
        while True:
            page = {"ended": last[0], "ended_id": last[1], "limit": JOBS_AT_ONCE}
            jobs = self._found(statements.ended_jobs(shape), {**given, **page})
            of_jobs = {**given, "jobs": listed(self._dialect, [id for _, id in jobs])}
            found.update(self._found(statements.in_jobs(shape, given=True), of_jobs))
            newest = sorted(found, reverse=True)[: given["limit"]]
            if len(jobs) < JOBS_AT_ONCE:
                return newest
            last = jobs[-1]
            if len(newest) == given["limit"] and newest[-1][0] > last[0] + SKEW:
                return newest

    def _by_keys(self, wanted: EventsWanted, given: dict[str, Any]) -> list[Place]:
        """Return the places of events by their keys, those with the newest events first."""
        limit = given["limit"]
        rows = self._connection.execute(
            statements.newest_of_keys(partition=wanted.partition is not None), given
        ).all()
        keys = [
            (newest, key)
            for key, newest in rows
            if newest is not None and (wanted.apps is None or app_of_key(key) in wanted.apps)
        ]
        found: list[Place] = []
        shape = _shape(self._dialect, EventsWanted(key="", partition=wanted.partition))
        for newest, key in sorted(keys, reverse=True):
            if len(found) >= limit and newest < found[-1][0]:
                break
            more = self._found(statements.of_events(shape), {**given, "key": key})
            found = sorted([*found, *more], reverse=True)[:limit]
        return found

    def _found(self, query: Statement, given: dict[str, Any]) -> list[Place]:
        return [(at, id) for at, id in self._connection.execute(query, given)]

    def _given(self, wanted: EventsWanted, limit: int) -> dict[str, Any]:
        """Return the parameters of all statements."""
        ends = [(LATEST if wanted.until is None else wanted.until, "")]
        if wanted.before is not None:
            ends.append(wanted.before)
        until, behind = min(ends)
        return {
            "since": EPOCH if wanted.since is None else wanted.since,
            "until": until,
            "behind": behind,
            "limit": limit,
            "looked_at": max(LOOKED_AT, PER_ITEM * limit),
            "key": wanted.key,
            "first": wanted.key_prefix,
            "last": wanted.key_prefix + LAST_CODE_POINT,
            "partition": wanted.partition,
            "schedule": wanted.schedule,
            "job": wanted.job,
            "reason": wanted.reason,
            "reason_of_delivery": None if wanted.reason is None else wanted.reason.value,
            "apps": listed(self._dialect, wanted.apps or ()),
        }


def _by_ends(wanted: EventsWanted) -> bool:
    """Return whether jobs are looked at from the last one on; far behind, many would be in vain."""
    is_first = wanted.until is None and wanted.before is None
    return is_first and wanted.outcome in ENDED and wanted.schedule is None and wanted.job is None


def _sees(wanted: EventsWanted, schedule: str | None) -> bool:
    return wanted.apps is None or schedule is None or app_of(schedule) in wanted.apps


def _shape(dialect: str, wanted: EventsWanted) -> Shape:
    return Shape(
        dialect=dialect,
        key=wanted.key is not None,
        prefix=bool(wanted.key_prefix),
        partition=wanted.partition is not None,
        schedule=wanted.schedule is not None,
        job=wanted.job is not None,
        outcome=wanted.outcome,
        reason=wanted.reason is not None,
        apps=wanted.apps is not None,
    )
