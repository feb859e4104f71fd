"""Retry: whether a job whose run has failed gets a further attempt, and the job in that attempt (rule 26).

    the program raised     ──► `retries` of the schedule
    the run died           ──► `retries` of the schedule; without the key `DEATHS_MAX` attempts
    a person cancelled it  ──► none
    no run could be made   ──► none: the outbox has tried it often enough

Every further attempt has the launch plan and so the commit id of the first one: what an earlier attempt has
published is found, not repeated. A person who retries a job makes the same step
(`scheduler.decision.fold.after`). Pure.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidegate.domain.back_off import back_off
from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.timeout import begun_at
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason

DEATHS_MAX = 2
"""Further attempts after deaths of runs where the schedule has no `retries`: the machine may be at fault,
while a program that kills its machine must not do so without end."""

FIRST_PAUSE_AFTER_DEATH = timedelta(seconds=10)
"""Without `retries` the next attempt follows soon, yet not into the middle of a restart."""


def retry_at(job: Job, state: ScheduleState | None, ended: datetime) -> datetime | None:
    """Return when the next attempt of a failed job may start; None if its failure is final.

    A suspended schedule that discards what waits makes no further attempt.

    Args:
        job: with the failure of its run.
        state: its schedule; None if it is deleted.
        ended: the end of the run.
    """
    if job.reason is not Reason.F_RUN or job.launch is None or state is None:
        return None
    if job.launch.program != state.spec.program or (not state.active and state.spec.on_suspend == "discard"):
        return None
    retries, failed = state.spec.retries, job.retried + 1
    if retries is not None:
        return ended + retries.pause(failed) if failed <= retries.max else None
    if job.raised or failed > DEATHS_MAX:
        return None
    return ended + back_off(FIRST_PAUSE_AFTER_DEATH, failed)


def attempts_max(job: Job, schedule: Schedule) -> int:
    """Return the number of the last attempt that the engine makes of a job by itself."""
    further = DEATHS_MAX if schedule.retries is None else schedule.retries.max
    return job.attempt - job.retried + further


def retried(job: Job, state: ScheduleState, now: datetime, starts_at: datetime) -> Job:
    """Return the failed job in its next attempt, which the engine starts by itself.

    Args:
        now: when the run was seen to have failed.
        starts_at: when the pause is over.
    """
    again = next_attempt(job, state, now, max(starts_at, now))
    holds = state.holding and job.by_hand is None
    return msgspec.structs.replace(
        again,
        retried=job.retried + 1,
        retry_at=starts_at,
        held_at=now if holds else None,
        detail=job.detail,
    )


def next_attempt(job: Job, state: ScheduleState, now: datetime, counts_from: datetime) -> Job:
    """Return the failed job with its next attempt, waiting for its constraints.

    Args:
        counts_from: when its timeout starts again.
    """
    return without_run(
        _with_whole_timeout(job, state.spec, now, counts_from),
        state=JobState.PENDING_CONSTRAINT,
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        attempt=job.attempt + 1,
        closed=True,
        next_check_at=now,
        ended_at=None,
    )


def without_run(job: Job, **changes: Any) -> Job:
    """Return the job without its run and what was noted of that, with other fields changed."""
    if "launch" not in changes and job.launch is not None:
        changes["launch"] = msgspec.structs.replace(job.launch, lost=0)
    return msgspec.structs.replace(
        job,
        reason=None,
        offers=0,
        offered_at=None,
        rejected=0,
        gave_back=False,
        run_id=None,
        resources=(),
        launched_at=None,
        raised=False,
        detail="",
        **changes,
    )


def _with_whole_timeout(job: Job, schedule: Schedule, now: datetime, counts_from: datetime) -> Job:
    # `satisfied_at` stays, since dates count from it; all time since then counts as held.
    job = msgspec.structs.replace(job, satisfied_at=job.satisfied_at or now, held_at=None)
    if job.instance is not None:
        # The timeout of an instance counts from its start time, whatever the engine retries.
        return job
    begun = begun_at(schedule.timeout, job) or counts_from
    return msgspec.structs.replace(job, held_for=counts_from - begun)
