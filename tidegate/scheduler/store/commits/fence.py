"""The fence of a job: a run whose work is over must not put its sequence.

A person pauses an instance while its run works, or runs it again. The commit id names the job and which of
its works it is (`model.work_of_job`), so the transaction of a `put` asks the job itself:

    pause, commit, put    ──► the put is refused; nothing of the run is ever published
    put, commit, pause    ──► it is past the point of no return, and is finished; a resume publishes again

In PostgreSQL the row of the job is locked until the end of the transaction: a pause that is about to commit
is waited for, and one that begins later waits for the put. SQLite has one writer at a time.
"""

from sqlalchemy import Connection, select

from tidegate.scheduler.model.work_of_job import is_over, work_of_commit
from tidegate.scheduler.store.sql.tables import jobs


def is_fenced(connection: Connection, commit: str) -> bool:
    """Return whether a sequence is the work of a job that was stopped since, or is run again.

    A sequence of no job is never fenced here.
    """
    work = work_of_commit(commit)
    job = select(jobs.c.commit, jobs.c.state).where(jobs.c.id == work.job).with_for_update(read=True)
    row = connection.execute(job).one_or_none()
    return row is not None and is_over(work, row.commit, row.state)
