"""What a run of an operation on a table reports to the store, its end, and asks: whether it has to yield."""

from datetime import datetime

import msgspec

from tidegate.domain.model import Priority
from tidegate.scheduler.model.job import ACTIVE, JobState
from tidegate.scheduler.model.maintenance import Ended
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.maintenance.end import end_operation_job
from tidegate.scheduler.tick.tick import advance_before, effective_at

LACKS_A_SLOT = (Reason.W_CONCURRENCY, Reason.W_LOAD)
"""Reasons of a job that waits for a slot which a run of an operation may hold: of a group, or of all runs."""


def end_operation(
    transaction: EngineTransaction, job_id: str, attempt: int, ended: Ended, now: datetime
) -> bool:
    """Take in the end of a run of an operation.

    Of a run whose timeout was over before it could stop, what it has done is kept: its bytes count, and the
    history shows its figures.

    Returns:
        Whether it counts: not if its job has ended already, by its timeout or an earlier report.
    """
    advance_before(transaction, now)
    for job in transaction.jobs(ids=(job_id,)):
        if job.maintenance is None or job.attempt != attempt:
            continue
        if job.state in ACTIVE:
            end_operation_job(transaction, job, ended, effective_at(transaction, now, now))
            return True
        if job.reason is Reason.F_TIMEOUT:
            _keep_figures(transaction, job_id, ended)
    return False


def _keep_figures(transaction: EngineTransaction, job_id: str, ended: Ended) -> None:
    """Keep all that a late report says but how the run has ended, and why."""
    said = msgspec.structs.asdict(ended)
    figures = {name: value for name, value in said.items() if name not in ("ending", "detail")}
    runs = transaction.operation_runs(jobs=(job_id,))
    transaction.put_operation_runs([msgspec.structs.replace(run, **figures) for run in runs])


def goes_on(reader: EngineReader, job_id: str, attempt: int) -> bool:
    """Return whether a run of an operation may go on: its job has not ended, for example by its timeout."""
    jobs = reader.jobs(ids=(job_id,))
    return any(job.attempt == attempt and job.state in ACTIVE for job in jobs)


def should_yield(reader: EngineReader, job_id: str) -> bool:
    """Return whether a ready job of high priority lacks a slot that a running operation holds."""
    held = {resource for job in reader.jobs(ids=(job_id,)) for resource in job.resources}
    return any(
        job.launch_priority is Priority.HIGH
        and job.state is JobState.PENDING_CONSTRAINT
        and job.reason in LACKS_A_SLOT
        and job.maintenance is None
        for job in reader.blocked_jobs(held)
    )
