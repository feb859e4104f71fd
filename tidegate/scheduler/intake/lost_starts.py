"""Runs of existing jobs that ended before they began: launched again, some times, as the same attempt.

    run ended without RUN_START ─► pause, without slots ─► launched under another run key ─► … ─► F-LAUNCH

The code location of the job was down when Dagster took the run from its queue.
"""

from datetime import datetime, timedelta

from tidegate.domain.back_off import back_off
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.repaired import end_repaired, repaired_by

FIRST_PAUSE = timedelta(seconds=10)
"""Before the first further run; each later pause is twice as long."""

STARTS_MAX = 3
"""So many further runs an attempt gets."""


def start_again(transaction: EngineTransaction, job: Job, run_id: str, message: str, now: datetime) -> None:
    """Launch an existing job again whose run ended before it began; its attempt is not over.

    Its location was down when the run was to start. It gives back its slots during the pause; after
    `STARTS_MAX` further runs it is a dead letter. Once a job that repairs it was launched, it ends.
    """
    repair = repaired_by(transaction, job)
    if repair is not None:
        end_repaired(transaction, [(job, repair)], now)
        return
    lost = 1 if job.launch is None else job.launch.lost + 1
    entry = Entry(
        at=now,
        kind=EntryKind.LAUNCH_FAILED,
        schedule=job.schedule,
        job=job.id,
        run_id=run_id,
        reason=Reason.F_LAUNCH if lost > STARTS_MAX else None,
        data={"message": message, "lost": lost},
    )
    transaction.add_journal([entry])
    if entry.reason is not None:
        end_jobs(transaction, [(job, entry)])
        return
    pause = back_off(FIRST_PAUSE, lost)
    transaction.put_jobs([record(job, entry, next_check_at=now + pause)])
    transaction.drop_launches([job.launch_holder])
    transaction.wake(transaction.release_slots(job.id), now)
