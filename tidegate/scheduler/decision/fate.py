"""Fate: what becomes of a job when its schedule is suspended, resumed, changed or deleted.

    deleted, or reset ──► discarded, unless a run of it exists
    carried           ──► discarded if it is left without events; else as the new `on_suspend` asks
    suspended         ──► discarded, left (`drain`) or held (`hold`, `backlog`), as `on_suspend` asks
    resumed           ──► released, if it was held

The only place that says so: the commands write it, `plan` counts it, and `why --at` folds it. Pure.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal, assert_never

from tidegate.domain.value import Value
from tidegate.scheduler.decision.hold import held, release
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason


class Change(StrEnum):
    """What happens to a schedule that has jobs.

    A change of its text is `RESET`, or `CARRIED` where the waiting jobs keep their events.
    """

    SUSPENDED = "suspended"
    RESUMED = "resumed"
    RESET = "reset"
    CARRIED = "carried"
    DELETED = "deleted"


class Fate(Value, kw_only=True):
    """What becomes of one job. `reason` says why a job is discarded."""

    kind: Literal["stays", "held", "released", "discarded"]
    reason: Reason | None = None


STAYS = Fate(kind="stays")
HELD = Fate(kind="held")
RELEASED = Fate(kind="released")


def fate(
    job: Job, change: Change, before: ScheduleState, after: ScheduleState, *, emptied: bool = False
) -> Fate:
    """What becomes of a job when its schedule changes.

    Args:
        before: its schedule until now.
        after: its schedule from now on; as before for one that is deleted.
        emptied: the change leaves it without events, see `scheduler.decision.carry`.
    """
    launched = not job.waiting and (job.state is not JobState.PENDING_LAUNCH or job.run_id is not None)
    if launched:
        return STAYS
    match change:
        case Change.DELETED:
            return _discarded(Reason.D_DELETED)
        case Change.RESET:
            return _discarded(Reason.D_UPDATED)
        case _ if not job.waiting:
            # Its launch is decided, and goes on as it was decided.
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


def after_fate(job: Job, its: Fate, state: ScheduleState, now: datetime) -> Job:
    """The waiting job after its fate; one that is discarded ends as `scheduler.decision.end_job` says.

    Args:
        state: its schedule from now on.
    """
    match its.kind:
        case "held":
            return held(job, now)
        case "released":
            return release(job, state.spec, now)
        case "stays" | "discarded":
            return job
        case _:
            assert_never(its.kind)


def _discarded(reason: Reason) -> Fate:
    return Fate(kind="discarded", reason=reason)


def _begins_to_discard(before: ScheduleState, after: ScheduleState) -> bool:
    """Whether a suspended schedule, which kept what waits, does so no longer."""
    return not after.active and after.spec.on_suspend == "discard" != before.spec.on_suspend


def _held_or_not(job: Job, after: ScheduleState) -> Fate:
    """A job that a person has triggered is not held: somebody wants it now (rules 10 and 17)."""
    if after.holding:
        return HELD if job.held_at is None and job.by_hand is None else STAYS
    return STAYS if job.held_at is None else RELEASED
