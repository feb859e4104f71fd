"""The timeout of a job: when its clock began, when it strikes, and how long it has stood still.

A timeout counts from the moment the trigger was satisfied, or from the first event on request
(rule 5). While a suspended schedule holds the job, the clock stands still (rule 19).
Pure; `scheduler.decision.decide` asks for the deadline, and whoever resumes a schedule for the pause.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import Timeout
from tidegate.scheduler.model.job import Job


def begun_at(timeout: Timeout, job: Job) -> datetime | None:
    """When the clock of a job's timeout began; None while it has not."""
    if timeout.from_ == "first_event" and job.first_event_at is not None:
        return job.first_event_at
    return job.satisfied_at


def deadline(timeout: Timeout, job: Job, *, held: bool) -> datetime | None:
    """When the timeout strikes; None while its clock has not begun, or stands still."""
    begun = begun_at(timeout, job)
    return None if begun is None or held else begun + timeout.after + job.held_for


def paused_for(timeout: Timeout, job: Job, now: datetime) -> timedelta:
    """How long the job's clock has stood still so far, until `now`.

    A clock that begins while the job is held stands still from its beginning on.
    """
    begun = begun_at(timeout, job)
    if begun is None or job.held_at is None:
        return job.held_for
    return job.held_for + max(now - max(begun, job.held_at), timedelta(0))
