"""Hold: keep the waiting jobs of a suspended schedule, and release them.

    suspend with hold or backlog ──► held: decided as always, but never launched (W-HELD)
    resume, or trigger by hand   ──► released: the timeout continues where it was paused

Pure. `scheduler.decision.changes.fate` decides which jobs are held.
"""

from datetime import datetime

import msgspec

from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.timeout import paused_for
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
