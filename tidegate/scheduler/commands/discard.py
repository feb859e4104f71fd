"""Discard: giving up jobs because of what people do to their schedule, with a reason in the journal.

A job that waits is simply given up. One whose launch was decided may be given up as long as no run
is known; a request for it may be under way, and its run will find that the job cannot be claimed.
"""

from collections.abc import Iterable
from datetime import datetime

from tidegate.scheduler.decision.end_job import discard_entry
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.end_jobs import end_jobs


def discard_waiting(
    transaction: Transaction, refs: Iterable[str], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard every waiting job of some schedules."""
    return discard_jobs(transaction, transaction.jobs(schedules=tuple(refs), states=WAITING), reason, now)


def discard_jobs(
    transaction: Transaction, jobs: Iterable[Job], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard waiting jobs; returns them as they are then."""
    endings = [(job, discard_entry(job, reason, now)) for job in jobs]
    transaction.add_journal([entry for _, entry in endings])
    return end_jobs(transaction, endings)


def discard_unlaunched(
    transaction: Transaction, refs: Iterable[str], now: datetime, reason: Reason = Reason.D_DELETED
) -> None:
    """Discard the PENDING_LAUNCH jobs of some schedules for which no run exists (rule 11)."""
    pending = transaction.jobs(schedules=tuple(refs), states=(JobState.PENDING_LAUNCH,))
    discard_jobs(transaction, [job for job in pending if job.run_id is None], reason, now)
