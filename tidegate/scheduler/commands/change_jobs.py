"""Change jobs: apply a change of a schedule to its jobs, as `scheduler.decision.changes.fate` decides.

A waiting job can always be discarded; a PENDING_LAUNCH job only as long as no run is known. A
launch request may already be on its way; its run then fails to claim the job.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidegate.scheduler.decision.changes.fate import Change, Fate, after_fate, fate
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import discard_each


def change_jobs(
    transaction: EngineTransaction,
    change: Change,
    before: Sequence[ScheduleState],
    now: datetime,
    after: Mapping[str, ScheduleState] | None = None,
) -> None:
    """Apply a change of some schedules to their jobs.

    Args:
        change: any but `CARRIED`, which depends on the events of each job.
        after: the schedules from now on, by ref; None if they stay the same.
    """
    states = {state.ref: state for state in before}
    afterwards = after or states
    jobs = transaction.jobs(schedules=tuple(states), states=WAITING)
    jobs += transaction.jobs(schedules=tuple(states), states=(JobState.PENDING_LAUNCH, JobState.PAUSED))
    apply_fates(
        transaction,
        [(job, fate(job, change, states[job.schedule], afterwards[job.schedule])) for job in jobs],
        afterwards,
        now,
    )


def apply_fates(
    transaction: EngineTransaction,
    fates: Sequence[tuple[Job, Fate]],
    after: Mapping[str, ScheduleState],
    now: datetime,
) -> None:
    """Hold, release or discard jobs; jobs that stay are not written.

    Args:
        after: their schedules from now on, by ref.
    """
    changed = [(job, each) for job, each in fates if each.kind in ("held", "released")]
    transaction.put_jobs([after_fate(job, each, after[job.schedule], now) for job, each in changed])
    discard_each(transaction, [(job, each.reason) for job, each in fates if each.reason is not None], now)
