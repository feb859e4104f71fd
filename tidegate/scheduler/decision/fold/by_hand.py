"""By hand: the job after a person triggers it, or queues a failed one again (rule 17).

Pure; `scheduler.commands.by_hand.manual` and `scheduler.launch.dead_letter` write the result.
"""

from datetime import datetime

import msgspec

from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.fold.retry import next_attempt
from tidegate.scheduler.decision.hold import release
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import ByHand, Job


def triggered(job: Job, schedule: Schedule, now: datetime, *, force: bool) -> Job:
    """Return the waiting job with its trigger satisfied, no longer held, and without a pause before it."""
    return msgspec.structs.replace(
        release(job, schedule, now),
        by_hand=ByHand.FORCE if force else ByHand.TRIGGER,
        satisfied_at=job.satisfied_at or now,
        retry_at=None,
    )


def queued(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return the dead letter with its next attempt, waiting for its constraints.

    Its launch is planned again, unless an earlier attempt had a run.
    """
    launch = None if job.failed_run is None else job.launch
    return msgspec.structs.replace(retried(job, state, now), launch=launch)


def retried(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return the failed job with its next attempt and the same launch plan, waiting for its constraints.

    The engine's own attempts are counted from here again.
    """
    return msgspec.structs.replace(
        next_attempt(job, state, now, now), by_hand=job.by_hand or ByHand.TRIGGER, retried=0, retry_at=None
    )
