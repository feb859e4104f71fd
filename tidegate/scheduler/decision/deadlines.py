"""Deadlines: when a job has to have succeeded, and whether it has missed that. Pure.

    deadline: "08:00"                      the first 08:00 at or after: the end of the key's period, the start
                                           time of an instance, in a backfill the begin of its lot, or the
                                           opening of a job without a key or with its date as the key
    deadline: 2h                           two hours after the trigger was satisfied
    deadline: {after: start, within: 2h}   two hours after the start of the run

A time of the day is that of the schedule's zone; one in a gap is the first instant after it, a doubled one
the first. A job that has failed or was discarded is over, not late. One of a backfill of a schedule never is.
"""

import re
from datetime import date, datetime, time, timedelta

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Cycle, Deadline, Schedule
from tidegate.domain.time.cycle import CYCLES, period_of
from tidegate.domain.time.wall_clock import first_instant, wall_time
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason

_KEY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-([0-9]{2}):([0-9]{2}))?")
_OVER = frozenset({JobState.FAILED, JobState.DISCARDED})
_DAY = timedelta(days=1)


def due_at(schedule: Schedule, job: Job) -> datetime | None:
    """Return when a job has to have succeeded; None without a deadline, and while it does not count yet.

    A repair has none: the job before it had.
    """
    deadline = schedule.deadline
    if deadline is None or job.repairs is not None or (job.instance is not None and job.instance.keyed):
        return None
    if deadline.by is not None:
        possible = _possible_at(schedule, job)
        return None if possible is None else first_clock(deadline.by, schedule.timezone, possible)
    begun = job.launched_at if deadline.after == "start" else job.satisfied_at
    return None if begun is None or deadline.within is None else begun + deadline.within


def may_be_late(job: Job) -> bool:
    """Return whether a job may be noted as late: it was not yet, and is neither over nor an empty run."""
    return (
        job.late_at is None
        and job.state not in _OVER
        and not (job.instance is not None and job.instance.empty)
    )


def late_entry(schedule: Schedule, job: Job, now: datetime) -> Entry | None:
    """Return the entry of a job that has missed its deadline, once for each job; else None."""
    if not may_be_late(job):
        return None
    due = due_at(schedule, job)
    done = job.ended_at if job.state is JobState.SUCCEEDED and job.ended_at is not None else now
    if due is None or done <= due:
        return None
    data = {"due": due.isoformat(), "key": job.key, "deadline": deadline_text(schedule.deadline)}
    return Entry(
        at=now,
        kind=EntryKind.LATE,
        schedule=job.schedule,
        job=job.id,
        run_id=job.run_id,
        reason=Reason.L_DEADLINE,
        data=data,
    )


def deadline_text(deadline: Deadline | None) -> str:
    """Return a deadline as people write it; "" without one."""
    if deadline is None:
        return ""
    if deadline.by is not None:
        return f"{deadline.by:%H:%M}"
    within = duration_text(deadline.within or timedelta(0))
    return f"{within} after the {'start' if deadline.after == 'start' else 'trigger'}"


def deadline_of_dataset(deadline: Deadline, *, periods: bool) -> str:
    """Return the deadline of a dataset as people read it."""
    if deadline.by is not None:
        return deadline_text(deadline)
    within = deadline_text(deadline).removesuffix(" after the trigger")
    return f"{within} after the {'end of the period' if periods else 'last update'}"


def first_clock(clock: time, zone: str, base: datetime) -> datetime:
    """Return the first instant at or after `base` at which the clock shows a time of the day."""
    day = wall_time(base, zone).date()
    while True:
        found = first_instant(datetime.combine(day, clock), zone)
        if found >= base:
            return found
        day += _DAY


def _possible_at(schedule: Schedule, job: Job) -> datetime | None:
    """Return the instant from which on the work of a job was possible; None while it is not."""
    if job.instance is not None and job.instance.number:
        return job.instance.began or job.satisfied_at
    if job.instance is not None:
        return job.instance.start
    # A date is the key of a job that its fire makes possible, which comes after the period.
    end = None if schedule.keyed_by_date else _end_of_key(schedule, job.key)
    return end or min(job.first_event_at or job.opened_at, job.opened_at)


def _end_of_key(schedule: Schedule, key: str) -> datetime | None:
    """Return the end of the period of a key; None for a key without a time."""
    for part in key.split("|"):
        found = _KEY.fullmatch(part)
        if found is None:
            continue
        try:
            day = date.fromisoformat(found[1])
            wall = datetime(day.year, day.month, day.day, int(found[2] or 0), int(found[3] or 0))
        except ValueError:
            continue
        cycle: Cycle = "day" if found[2] is None else "hour"
        if schedule.for_each in CYCLES:
            cycle = schedule.for_each
        return period_of(first_instant(wall, schedule.timezone), cycle, schedule.timezone).end
    return None
