"""Discard: giving up jobs because of what people do to their schedule, with a reason in the journal.

A job that waits is simply given up. One whose launch was decided may be given up as long as no run
is known; a request for it may be under way, and its run will find that the job cannot be claimed.
"""

from collections.abc import Iterable
from datetime import datetime

from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.apply import discarded


def discard_waiting(
    transaction: Transaction, refs: Iterable[str], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard every waiting job of some schedules."""
    return discard_jobs(transaction, transaction.jobs(schedules=tuple(refs), states=WAITING), reason, now)


def discard_jobs(
    transaction: Transaction, jobs: Iterable[Job], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard waiting jobs; returns them as they are then."""
    given_up = tuple(discarded(job, reason, now) for job in jobs)
    transaction.put_jobs(given_up)
    transaction.add_journal([_entry(job, now) for job in given_up])
    return given_up


def discard_unlaunched(
    transaction: Transaction, refs: Iterable[str], now: datetime, reason: Reason = Reason.D_DELETED
) -> None:
    """Discard the PENDING_LAUNCH jobs of some schedules for which no run exists (rule 11)."""
    for job in transaction.jobs(schedules=tuple(refs), states=(JobState.PENDING_LAUNCH,)):
        if job.run_id is not None:
            continue
        given_up = discarded(job, reason, now)
        transaction.put_jobs([given_up])
        transaction.remove_launch(job.id)
        transaction.wake(transaction.release_slots(job.id), now)
        transaction.add_journal([_entry(given_up, now)])


def _entry(job: Job, now: datetime) -> Entry:
    return Entry(at=now, kind=EntryKind.DISCARDED, schedule=job.schedule, job=job.id, reason=job.reason)
