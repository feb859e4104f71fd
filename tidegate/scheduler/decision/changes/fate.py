"""Fate: what becomes of a job when its schedule is suspended, resumed, changed or deleted.

    deleted, or reset ──► discarded, unless it has a run
    carried           ──► discarded if it keeps no event; else by the new `on_suspend`
    suspended         ──► discarded, kept (`drain`) or held (`hold`, `backlog`), by `on_suspend`
    resumed           ──► released, if it was held
    of a backfill     ──► goes on with its key under the changed schedule, unless that has other keys; while
                          the schedule is suspended it is held, but for `drain`

This is the only place that decides it: commands write it, `plan` counts it, `why --at` folds it. Pure.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal, assert_never

from tidegate.domain.model import Schedule
from tidegate.domain.schedule_keys import has_cron
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
    if job.instance is not None and job.instance.keyed and change is not Change.DELETED:
        return _of_backfill(job, change, before, after)
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


def _of_backfill(job: Job, change: Change, before: ScheduleState, after: ScheduleState) -> Fate:
    """Return what becomes of a job of a backfill of a schedule that goes on."""
    if keys_differ(before.spec, after.spec):
        return _discarded(Reason.D_UPDATED)
    if change is Change.RESET or not job.waiting:
        return STAYS
    if not after.active and after.spec.on_suspend != "drain":
        return HELD if job.held_at is None else STAYS
    return STAYS if job.held_at is None else RELEASED


def keys_differ(before: Schedule, after: Schedule) -> bool:
    """Return whether a changed schedule has other keys: those of another `for_each`, or no dates any more."""
    return before.for_each != after.for_each or (after.for_each is None and not has_cron(after))


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
