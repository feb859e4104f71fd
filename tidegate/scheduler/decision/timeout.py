"""The timeout of a job: its start, its deadline, and how long it was paused.

A timeout counts from the instant at which the trigger was satisfied, or from the first event
with `from: first_event` (rule 5). While a suspended schedule holds the job, it is paused (rule 19). Pure.

Hold: keep the waiting jobs of a suspended schedule, and release them.

    suspend with hold or backlog ──► held: decided as always, but never launched (W-HELD)
    resume, or trigger by hand   ──► released: the timeout continues where it was paused

Pure. `scheduler.decision.changes.fate` decides which jobs are held.
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.duration import FURTHEST
from tidegate.domain.model import Schedule, Timeout
from tidegate.scheduler.model.job import Job


def hold(job: Job, now: datetime) -> Job:
    """Return the waiting job, held from `now` on."""
    return msgspec.structs.replace(job, held_at=now, next_check_at=now)


def release(job: Job, schedule: Schedule, now: datetime) -> Job:
    """Return the waiting job, released; its timeout does not count the time for which it was held."""
    if job.held_at is None:
        return job
    return msgspec.structs.replace(
        job, held_at=None, held_for=paused_for(schedule.timeout, job, now), next_check_at=now
    )


def begun_at(timeout: Timeout, job: Job) -> datetime | None:
    """Return when the timeout of a job started; None if it has not.

    An instance's counts from its start time, of a backfill from the begin of its lot.
    """
    instance = job.instance
    if instance is not None and instance.number:
        return None if instance.began is None else max(instance.began, instance.counts_from or instance.began)
    if instance is not None:
        return instance.counts_from or instance.start
    if timeout.from_ == "first_event" and job.first_event_at is not None:
        return job.first_event_at
    return job.satisfied_at


def deadline(timeout: Timeout, job: Job, *, held: bool) -> datetime | None:
    """Return when the job times out; None while the timeout has not started or is paused."""
    begun = begun_at(timeout, job)
    return None if begun is None or held else begun + timeout.after + job.held_for


def looked_and_discarded_at(timeout: Timeout | None, job: Job) -> tuple[datetime | None, datetime | None]:
    """Return when time alone may change a waiting job before its discard, and when its timeout discards it.

    The job stores the earlier one of both. None where that does not happen.
    """
    check = job.next_check_at if job.decided_when_due else None
    if timeout is None or timeout.then != "discard" or not job.waiting:
        return check, None
    ends = deadline(timeout, job, held=job.held_at is not None and job.by_hand is None)
    never = timeout.after > FURTHEST
    return None if check == ends else check, None if never else ends


def paused_for(timeout: Timeout, job: Job, now: datetime) -> timedelta:
    """Return how long the timeout was paused, up to `now`.

    A timeout that starts while the job is held is paused from its start.
    """
    begun = begun_at(timeout, job)
    if begun is None or job.held_at is None:
        return job.held_for
    return job.held_for + max(now - max(begun, job.held_at), timedelta(0))
