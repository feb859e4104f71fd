"""Failed jobs that a person tries again: dead letters, of which no run could be made (F-LAUNCH), and others.

A dead letter keeps what it had collected. Queued again it is the same job with a further attempt: its
trigger stays satisfied, it is decided anew under the constraints of its schedule as that is now, its
timeout counts anew, and no further event joins it. A job whose run failed keeps its launch plan besides.
"""

from collections.abc import Collection
from datetime import datetime

from tidegate.scheduler.decision.after import record
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import Reader, Transaction
from tidegate.scheduler.tick.tick import advance_before


def dead_letters(reader: Reader, schedules: Collection[str] | None = None) -> tuple[Job, ...]:
    """The jobs that became dead letters and were not queued again, oldest first."""
    failed = reader.jobs(schedules=schedules, states=(JobState.FAILED,))
    return tuple(job for job in failed if job.reason is Reason.F_LAUNCH)


def requeue(transaction: Transaction, job: str, now: datetime) -> Job:
    """Queue a dead letter again.

    Raises:
        Refused: no such job, it is no dead letter, or its schedule is not deployed any more.
    """
    advance_before(transaction, now)
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise Refused(f"there is no job {job}", "`tidegate jobs list --dead-letters` shows those that can be")
    if found.reason is not Reason.F_LAUNCH:
        because = "" if found.reason is None else f" ({found.reason})"
        raise Refused(
            f"job {job} is {found.state}{because}, which is no dead letter",
            "only a job that no run could be made of is queued again; `tidegate jobs retry` runs a job again"
            " whose run failed",
        )
    return _again(transaction, found, "requeue", now)


def retry(transaction: Transaction, job: str, now: datetime) -> Job:
    """Run a job again whose run failed or was cancelled: a further attempt with the same launch plan.

    Its commit id is the job's, so what the failed attempt has published already is not written twice. A
    dead letter, which has no run, is queued again.

    Raises:
        Refused: no such job, it has not failed, or its schedule is not deployed any more.
    """
    advance_before(transaction, now)
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise Refused(f"there is no job {job}", "`tidegate jobs list --failed` shows those that failed")
    if found.state is not JobState.FAILED:
        raise Refused(
            f"job {job} is {found.state} and cannot be tried again",
            "only a job that failed is tried again; `tidegate schedules trigger` starts another one",
        )
    return _again(transaction, found, "requeue" if found.reason is Reason.F_LAUNCH else "retry", now)


def _again(transaction: Transaction, found: Job, action: str, now: datetime) -> Job:
    state = next(iter(transaction.schedules(refs=[found.schedule])), None)
    if state is None:
        raise Refused(
            f"job {found.id} cannot be queued again: its schedule {found.schedule} is not deployed any more",
            "deploy the schedule again first",
        )
    program = state.spec.program
    if action == "retry" and found.launch is not None and found.launch.program != program:
        raise Refused(
            f"job {found.id} ran {found.launch.program}; its schedule {found.schedule} runs {program} now",
            "`tidegate schedules trigger` starts another job",
        )
    entry = Entry(
        at=now,
        kind=EntryKind.MANUAL,
        schedule=found.schedule,
        job=found.id,
        data={"action": action, "key": found.key, "attempt": found.attempt + 1},
    )
    again = record(found, entry, state)
    transaction.put_jobs([again])
    transaction.add_journal([entry])
    return again
