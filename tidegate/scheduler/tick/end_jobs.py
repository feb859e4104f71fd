"""End jobs: write the ends that `scheduler.decision.fold.end_job` returns into the store.

A job that ends releases its slots, which wakes the jobs that wait for them. A launch without a run
no longer counts in rates.

Take again: the slots and the place in rates of a job that gave them back, and has a run nevertheless. every
offer rejected ──► given back (`scheduler.launch.outbox`): other jobs may take them due to be offered ──►
taken again by a tick, once the limits of its schedule allow it a run appears anyway ──► taken again here,
whatever the limits say: the run is active
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from tidegate.scheduler.decision.fold.end_job import discard_entry, end_job
from tidegate.scheduler.model.instance import instance_resource
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import Launched
from tidegate.scheduler.store.protocol import EngineTransaction


def take_again(transaction: EngineTransaction, job: Job, now: datetime) -> None:
    """Take the slots and the place in rates of a job whose run exists, if the job gave them back."""
    if job.gave_back:
        transaction.take_slots({job.id: job.resources})
        transaction.add_launches([Launched(program=job.program, holder=job.launch_holder, at=now)])


def discard_jobs(
    transaction: EngineTransaction, jobs: Iterable[Job], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard jobs for one reason, and return the discarded jobs."""
    return discard_each(transaction, [(job, reason) for job in jobs], now)


def discard_each(
    transaction: EngineTransaction, discarded: Iterable[tuple[Job, Reason]], now: datetime
) -> tuple[Job, ...]:
    """Discard jobs, each for its own reason, and return the discarded jobs."""
    endings = [(job, discard_entry(job, reason, now)) for job, reason in discarded]
    transaction.add_journal([entry for _, entry in endings])
    return end_jobs(transaction, endings)


def end_jobs(transaction: EngineTransaction, endings: Sequence[tuple[Job, Entry]]) -> tuple[Job, ...]:
    """End jobs as their entries say, and return them. The caller adds the entries to the journal."""
    ends = [(job, end_job(job, entry), entry.at) for job, entry in endings]
    transaction.put_jobs([end.job for _, end, _ in ends])
    transaction.add_events([event for _, end, _ in ends for event in end.events])
    for before, end, at in ends:
        if end.released.launch:
            transaction.drop_launches([before.launch_holder])
        if end.job.instance is not None:
            transaction.wake({instance_resource(end.job.id)}, at)
        if end.released.slots:
            transaction.wake(transaction.release_slots(end.job.id), at)
    return tuple(end.job for _, end, _ in ends)
