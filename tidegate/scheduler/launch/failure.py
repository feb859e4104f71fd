"""The failure that a run has met, noted at its job while the run can still say it.

Dagster's event log says that a run failed, not why. The run notes it before it ends, so `tidegate why` and
`tidegate jobs show` have it without Dagster. The state of the job follows from the run, as ever.
"""

from datetime import datetime

from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import Store


def note_failure(
    store: Store,
    job_id: str,
    attempt: int,
    run_id: str,
    message: str,
    now: datetime,
    *,
    died: bool = False,
) -> bool:
    """Note why the run of an attempt fails.

    Args:
        died: its process has ended, as another process notes, or it has lost its JVM or its store, so the
            program did not fail by itself.

    Returns:
        Whether the run holds the claim of a launched job; nothing is noted for another one.
    """
    with store.transaction() as transaction:
        job = next(iter(transaction.jobs(ids=(job_id,), states=(JobState.LAUNCHED,))), None)
        if job is None or job.attempt != attempt or transaction.claim_of(job_id, attempt) != run_id:
            return False
        entry = Entry(
            at=now,
            kind=EntryKind.FAILURE,
            schedule=job.schedule,
            job=job.id,
            run_id=run_id,
            data={"message": message, **({"died": True} if died else {})},
        )
        transaction.put_jobs([record(job, entry)])
        transaction.add_journal([entry])
        return True
