"""Failed jobs that a person queues again: dead letters, for which no run could be created, and others.

A dead letter (F-LAUNCH) keeps its collected events. Queued again, it is the same job with a new
attempt: its trigger stays satisfied, the constraints of the current schedule decide again, its timeout
starts again, and no further event joins it. A job whose run failed also keeps its launch plan.
"""

from datetime import datetime

import msgspec

from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused, UnknownName, refuse_instance, refuse_operation
from tidegate.scheduler.store.parts.pages import JobsWanted
from tidegate.scheduler.store.protocol import Reader, Transaction
from tidegate.scheduler.tick.tick import advance_before

PAGE = 1000
"""Jobs that are read at once."""

CLI = By()
"""The actor where no other is named."""


def dead_letters(reader: Reader, schedule: str | None = None) -> tuple[Job, ...]:
    """Return the dead letters that were not queued again, oldest first.

    An operation on a table is none: its policy asks for it again.

    Args:
        schedule: of which; None for all.
    """
    wanted = JobsWanted(schedule=schedule, state=JobState.FAILED, reason=Reason.F_LAUNCH)
    found: list[Job] = []
    while page := reader.newest_jobs(wanted, PAGE):
        found += [job for job in page if job.maintenance is None]
        wanted = msgspec.structs.replace(wanted, before=(page[-1].opened_at, page[-1].id))
    return tuple(reversed(found))


def requeue(transaction: Transaction, job: str, now: datetime, by: By = CLI) -> Job:
    """Queue a dead letter again.

    Raises:
        Refused: the job does not exist or is not a dead letter, or its schedule is not deployed; or it is an
            operation on a table.
    """
    advance_before(transaction, now)
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise UnknownName(
            f"there is no job {job}", "`tidegate jobs list --dead-letters` shows the dead letters"
        )
    refuse_operation(found)
    if found.reason is not Reason.F_LAUNCH:
        because = "" if found.reason is None else f" ({found.reason})"
        raise Refused(
            f"job {job} is not a dead letter: it is {found.state}{because}",
            "only a dead letter (F-LAUNCH) can be queued again; `tidegate jobs retry` runs a job again"
            " whose run failed",
        )
    return _again(transaction, found, "requeue", now, by)


def retry(transaction: Transaction, job: str, now: datetime, by: By = CLI) -> Job:
    """Run a job again whose run failed or was cancelled, with a new attempt and the same launch plan.

    Its commit id is the job's, so partitions that the failed attempt has published are not written twice. A
    dead letter, which has no run, is queued again. A job that waits for its next attempt (rule 26) does not
    wait for the rest of the pause.

    Raises:
        Refused: the job does not exist or has not failed, or its schedule is not deployed; or it is an
            operation on a table.
    """
    advance_before(transaction, now)
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise UnknownName(f"there is no job {job}", "`tidegate jobs list --failed` shows the failed jobs")
    refuse_instance(found, "tidegate instances rerun")
    refuse_operation(found)
    if found.waiting and found.retry_at is not None:
        return _at_once(transaction, found, now, by)
    if found.state is not JobState.FAILED:
        raise Refused(
            f"job {job} is {found.state} and cannot be retried",
            "only a failed job can be retried; `tidegate schedules trigger` opens another job",
        )
    return _again(transaction, found, "requeue" if found.reason is Reason.F_LAUNCH else "retry", now, by)


def _at_once(transaction: Transaction, found: Job, now: datetime, by: By) -> Job:
    state = next(iter(transaction.schedules(refs=[found.schedule])))
    data = {"action": "trigger", "key": found.key, **by.noted}
    entry = Entry(at=now, kind=EntryKind.MANUAL, schedule=found.schedule, job=found.id, data=data)
    again = record(found, entry, state, next_check_at=now)
    transaction.put_jobs([again])
    transaction.add_journal([entry])
    return again


def _again(transaction: Transaction, found: Job, action: str, now: datetime, by: By) -> Job:
    state = next(iter(transaction.schedules(refs=[found.schedule])), None)
    if state is None:
        raise Refused(
            f"job {found.id} cannot be queued again: its schedule {found.schedule} is not deployed",
            "deploy the schedule again first",
        )
    program = state.spec.program
    if action == "retry" and found.launch is not None and found.launch.program != program:
        raise Refused(
            f"job {found.id} ran {found.launch.program}; its schedule {found.schedule} runs {program} now",
            "`tidegate schedules trigger` opens another job",
        )
    entry = Entry(
        at=now,
        kind=EntryKind.MANUAL,
        schedule=found.schedule,
        job=found.id,
        data={"action": action, "key": found.key, "attempt": found.attempt + 1, **by.noted},
    )
    again = record(found, entry, state)
    transaction.put_jobs([again])
    transaction.add_journal([entry])
    return again
