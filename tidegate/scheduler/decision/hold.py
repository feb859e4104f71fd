"""Hold: keeping what waits while its schedule is suspended, and letting it go again.

    suspend with hold or backlog ──► held: decided as always, but never launched (W-HELD)
    resume, or triggered by hand ──► let go: the timeout goes on where it stood still

Pure. `scheduler.decision.fate` says which jobs are held.
"""

from datetime import datetime

import msgspec

from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.timeout import paused_for
from tidegate.scheduler.model.job import Job


def held(job: Job, now: datetime) -> Job:
    """The waiting job, held from `now` on."""
    return msgspec.structs.replace(job, held_at=now, next_check_at=now)


def release(job: Job, schedule: Schedule, now: datetime) -> Job:
    """The waiting job, held no longer; its timeout does not count the time that it was."""
    if job.held_at is None:
        return job
    return msgspec.structs.replace(
        job, held_at=None, held_for=paused_for(schedule.timeout, job, now), next_check_at=now
    )
