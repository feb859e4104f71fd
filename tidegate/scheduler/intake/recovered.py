"""Recovered publishes: recovery reports that it has finished what a run had promised to publish.

The process that finishes a commit for another run, whether the recovery job, a later run of the dataset or
`tidegate commits recover`, reports its id before it removes the commit. So the report is repeated after a
crash, and folding it twice changes nothing.
"""

from datetime import datetime

from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.fold.recovered import recovered_entry
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.work_of_job import work_of_commit
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.tick import advance_before, effective_at


def observe_recovered(transaction: EngineTransaction, commit: str, now: datetime) -> None:
    """Fold a finished commit into its job; that of an external run has none."""
    if not _jobs(transaction, commit):
        return
    advance_before(transaction, now)
    for job in _jobs(transaction, commit):
        entry = recovered_entry(job, commit, effective_at(transaction, now, now))
        if entry is not None:
            _fold(transaction, job, entry)


def _fold(transaction: EngineTransaction, job: Job, entry: Entry) -> None:
    if job.state is JobState.LAUNCHED:
        transaction.put_jobs([record(job, entry)])
    else:
        end_jobs(transaction, [(job, entry)])
    transaction.add_journal([entry])


def _jobs(reader: EngineReader, commit: str) -> tuple[Job, ...]:
    return reader.jobs(ids=(work_of_commit(commit).job,))
