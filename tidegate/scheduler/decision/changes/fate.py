"""Fate: what becomes of a job when its schedule is suspended, resumed, changed or deleted.

    deleted, or reset ──► discarded, unless it has a run
    carried           ──► discarded if it keeps no event; else by the new `on_suspend`
    suspended         ──► discarded, kept (`drain`) or held (`hold`, `backlog`), by `on_suspend`
    resumed           ──► released, if it was held

This is the only place that decides it: commands write it, `plan` counts it, `why --at` folds it. Pure.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal, assert_never

from tidegate.domain.value import Value
from tidegate.scheduler.decision.timeout import hold, release
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason


class Change(StrEnum):
    """A change of a schedule.

    A changed specification is `RESET`, or `CARRIED` if the waiting jobs keep their events.
    """

    SUSPENDED = "suspended"
    RESUMED = "resumed"
    RESET = "reset"
    CARRIED = "carried"
    DELETED = "deleted"


class Fate(Value, kw_only=True):
    """The fate of one job. `reason` says why a job is discarded."""

    kind: Literal["stays", "held", "released", "discarded"]
    reason: Reason | None = None


STAYS = Fate(kind="stays")
HELD = Fate(kind="held")
RELEASED = Fate(kind="released")


def fate(
    job: Job, change: Change, before: ScheduleState, after: ScheduleState, *, emptied: bool = False
) -> Fate:
    """Return what becomes of a job when its schedule changes.

    Args:
        before: its schedule until now.
        after: its schedule from now on; the same for a deleted schedule.
        emptied: whether the job keeps no event, see `scheduler.decision.changes.carry`.
    """
    if job.state is JobState.PAUSED:
        return _discarded(Reason.D_DELETED) if change is Change.DELETED else STAYS
    launched = not job.waiting and (job.state is not JobState.PENDING_LAUNCH or job.run_id is not None)
    if launched:
        return STAYS
    match change:
        case Change.DELETED:
            return _discarded(Reason.D_DELETED)
        case Change.RESET:
            return _discarded(Reason.D_UPDATED)
        case _ if not job.waiting:
            # A decided launch goes on.
            return STAYS
        case Change.CARRIED if emptied:
            return _discarded(Reason.D_UPDATED)
        case Change.SUSPENDED if after.spec.on_suspend == "discard":
            return _discarded(Reason.D_SUSPENDED)
        case Change.CARRIED if _begins_to_discard(before, after) and job.by_hand is None:
            return _discarded(Reason.D_SUSPENDED)
        case Change.SUSPENDED | Change.RESUMED | Change.CARRIED:
            return _held_or_not(job, after)
        case _:
            assert_never(change)


def after_fate(job: Job, job_fate: Fate, state: ScheduleState, now: datetime) -> Job:
    """Return the waiting job after its fate; `scheduler.decision.fold.end_job` ends a discarded one.

    Args:
        state: its schedule from now on.
    """
    match job_fate.kind:
        case "held":
            return hold(job, now)
        case "released":
            return release(job, state.spec, now)
        case "stays" | "discarded":
            return job
        case _:
            assert_never(job_fate.kind)


def _discarded(reason: Reason) -> Fate:
    return Fate(kind="discarded", reason=reason)


def _begins_to_discard(before: ScheduleState, after: ScheduleState) -> bool:
    """Return whether a suspended schedule, which kept its jobs, discards them from now on."""
    return not after.active and after.spec.on_suspend == "discard" != before.spec.on_suspend


def _held_or_not(job: Job, after: ScheduleState) -> Fate:
    """Return whether a job is held, released or stays; a job triggered by hand is not held (rule 17)."""
    if after.holding:
        return HELD if job.held_at is None and job.by_hand is None else STAYS
    return STAYS if job.held_at is None else RELEASED
