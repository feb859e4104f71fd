"""By hand: the job after a person triggers it, or queues a failed one again (rule 17).

Pure; `scheduler.commands.manual` and `scheduler.launch.dead_letter` write the result.
"""

from datetime import datetime

import msgspec

from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.hold import release
from tidegate.scheduler.decision.timeout import begun_at
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import ByHand, Job, JobState


def triggered(job: Job, schedule: Schedule, now: datetime, *, force: bool) -> Job:
    """Return the waiting job with its trigger satisfied, and no longer held."""
    return msgspec.structs.replace(
        release(job, schedule, now),
        by_hand=ByHand.FORCE if force else ByHand.TRIGGER,
        satisfied_at=job.satisfied_at or now,
    )


def queued(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return the dead letter with its next attempt, waiting for its constraints."""
    return msgspec.structs.replace(retried(job, state, now), launch=None)


def retried(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return the failed job with its next attempt and the same launch plan, waiting for its constraints."""
    return msgspec.structs.replace(
        _with_whole_timeout(job, state.spec, now),
        state=JobState.PENDING_CONSTRAINT,
        reason=None,
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        by_hand=job.by_hand or ByHand.TRIGGER,
        attempt=job.attempt + 1,
        offers=0,
        offered_at=None,
        closed=True,
        next_check_at=now,
        run_id=None,
        resources=(),
        launched_at=None,
        ended_at=None,
        detail="",
    )


def _with_whole_timeout(job: Job, schedule: Schedule, now: datetime) -> Job:
    # `satisfied_at` stays, since dates count from it; all time since then counts as held.
    job = msgspec.structs.replace(job, satisfied_at=job.satisfied_at or now, held_at=None)
    return msgspec.structs.replace(job, held_for=now - (begun_at(schedule.timeout, job) or now))
