"""End jobs: write into the store what `scheduler.decision.end_job` says of each.

A job that ends gives back its slots, which wakes those that wait for them, and a launch of which no run
came counts in no rate any more.
"""

from collections.abc import Sequence

from tidegate.scheduler.decision.end_job import end_job
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.protocol import Transaction


def end_jobs(transaction: Transaction, endings: Sequence[tuple[Job, Entry]]) -> tuple[Job, ...]:
    """End jobs as their entries say, which the caller adds to the journal; returns them as they are then."""
    ends = [(end_job(job, entry), entry.at) for job, entry in endings]
    transaction.put_jobs([end.job for end, _ in ends])
    for end, at in ends:
        if end.forgets_launch:
            transaction.remove_launch(end.job.id)
        if end.frees_slots:
            transaction.wake(transaction.release_slots(end.job.id), at)
    return tuple(end.job for end, _ in ends)
