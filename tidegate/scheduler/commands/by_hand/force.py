"""Force: a waiting job runs whatever its trigger and its constraints say, but for concurrency (rule 17)."""

from datetime import datetime

import msgspec

from tidegate.scheduler.commands.by_hand.manual import refuse_without_partition, view_of
from tidegate.scheduler.commands.by_hand.statuses import schedule_state
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.launch.dates import date_of_job
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import NOBODY, By, Entry, EntryKind
from tidegate.scheduler.model.refused import Refused, UnknownName, refuse_instance, refuse_operation
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.tick import advance_before


def force(transaction: EngineTransaction, job: str, now: datetime, by: By) -> Job:
    """Count the trigger of a waiting job as satisfied, and override its constraints.

    Raises:
        UnknownName: there is no such job.
        Refused: it does not wait, is an instance or an operation, or its run would write no partition.
    """
    advance_before(transaction, now)
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise UnknownName(f"there is no job {job}", "`tidegate jobs list` shows the jobs")
    forced, entry = _forced(transaction, found, now, by)
    transaction.put_jobs([forced])
    transaction.add_journal([entry])
    return forced


def check_force(reader: EngineReader, job: Job, now: datetime) -> None:
    """Refuse to force a job that `force` would refuse.

    Raises:
        Refused: it does not wait, is an instance or an operation, or its run would write no partition.
    """
    _forced(reader, job, now, NOBODY)


def check_waits(job: Job) -> None:
    """Refuse to force a job that is of no kind or in no state to be forced, whatever it has collected.

    Raises:
        Refused: it does not wait, or is an instance or an operation.
    """
    refuse_instance(job, "tidegate instances rerun")
    refuse_operation(job)
    if not job.waiting:
        raise Refused(
            f"job {job.id} is {job.state} and does not wait",
            "`tidegate jobs retry` runs a failed job again; `tidegate schedules trigger` opens another job",
        )


def _forced(reader: EngineReader, job: Job, now: datetime, by: By) -> tuple[Job, Entry]:
    check_waits(job)
    state = schedule_state(reader, job.schedule)
    app = load_apps(reader, [state])[state.app]
    view = view_of(reader, state, app, job, now)
    data = {"action": "force", "key": date_of_job(view, job.satisfied_at or now), **by.noted}
    entry = Entry(at=now, kind=EntryKind.MANUAL, schedule=job.schedule, job=job.id, data=data)
    forced = record(job, entry, state, next_check_at=now)
    refuse_without_partition(msgspec.structs.replace(view, job=forced))
    return forced, entry
