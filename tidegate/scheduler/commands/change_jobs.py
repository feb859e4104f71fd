"""Change jobs: what people do to a schedule is done to its jobs, as `scheduler.decision.fate` says.

A job that waits is simply given up. One whose launch was decided may be given up as long as no run
is known; a request for it may be under way, and its run will find that the job cannot be claimed.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from tidegate.scheduler.decision.end_job import discard_entry
from tidegate.scheduler.decision.fate import Change, Fate, after_fate, fate
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.end_jobs import end_jobs


def change_jobs(
    transaction: Transaction,
    change: Change,
    before: Sequence[ScheduleState],
    now: datetime,
    after: Mapping[str, ScheduleState] | None = None,
) -> None:
    """Do to the jobs of some schedules what happens to these.

    Args:
        change: any but `CARRIED`, which depends on the events of each job.
        after: the schedules from now on, by ref; None where they are as before.
    """
    states = {state.ref: state for state in before}
    afterwards = after or states
    jobs = transaction.jobs(schedules=tuple(states), states=WAITING)
    jobs += transaction.jobs(schedules=tuple(states), states=(JobState.PENDING_LAUNCH,))
    apply_fates(
        transaction,
        [(job, fate(job, change, states[job.schedule], afterwards[job.schedule])) for job in jobs],
        afterwards,
        now,
    )


def apply_fates(
    transaction: Transaction,
    fates: Sequence[tuple[Job, Fate]],
    after: Mapping[str, ScheduleState],
    now: datetime,
) -> None:
    """Hold, release or discard jobs; those that stay are not written.

    Args:
        after: their schedules from now on, by ref.
    """
    moving = [(job, its) for job, its in fates if its.kind in ("held", "released")]
    transaction.put_jobs([after_fate(job, its, after[job.schedule], now) for job, its in moving])
    _end(transaction, [(job, its.reason) for job, its in fates if its.reason is not None], now)


def discard_jobs(
    transaction: Transaction, jobs: Iterable[Job], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard jobs; returns them as they are then."""
    return _end(transaction, [(job, reason) for job in jobs], now)


def _end(transaction: Transaction, discarded: Sequence[tuple[Job, Reason]], now: datetime) -> tuple[Job, ...]:
    endings = [(job, discard_entry(job, reason, now)) for job, reason in discarded]
    transaction.add_journal([entry for _, entry in endings])
    return end_jobs(transaction, endings)
