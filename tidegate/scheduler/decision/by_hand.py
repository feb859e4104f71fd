"""By hand: what a person makes of a job, by triggering it, or by queueing a failed one again (rule 17).

Pure; `scheduler.commands.manual` and `scheduler.launch.dead_letter` let it happen.
"""

from datetime import datetime

import msgspec

from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.hold import release
from tidegate.scheduler.decision.timeout import begun_at
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import ByHand, Job, JobState


def triggered(job: Job, schedule: Schedule, now: datetime, *, force: bool) -> Job:
    """The waiting job with its trigger satisfied, which no suspended schedule holds any more."""
    return msgspec.structs.replace(
        release(job, schedule, now),
        by_hand=ByHand.FORCE if force else ByHand.TRIGGER,
        satisfied_at=job.satisfied_at or now,
    )


def queued(job: Job, state: ScheduleState, now: datetime) -> Job:
    """The dead letter, waiting again for its constraints, with its next attempt."""
    return msgspec.structs.replace(retried(job, state, now), launch=None)


def retried(job: Job, state: ScheduleState, now: datetime) -> Job:
    """The failed job, waiting again for its constraints, with its next attempt and the same launch plan."""
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
    # The trigger stays satisfied when it was, since dates are counted from there; its clock has stood still.
    job = msgspec.structs.replace(job, satisfied_at=job.satisfied_at or now, held_at=None)
    return msgspec.structs.replace(job, held_for=now - (begun_at(schedule.timeout, job) or now))
