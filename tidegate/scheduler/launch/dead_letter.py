"""Failed jobs that a person queues again: dead letters, for which no run could be created, and others.

A dead letter (F-LAUNCH) keeps its collected events. Queued again, it is the same job with a new
attempt: its trigger stays satisfied, the constraints of the current schedule decide again, its timeout
starts again, and no further event joins it. A job whose run failed also keeps its launch plan. Of a dead
letter whose events came while the clock was ahead, keys of periods that have not begun leave it (D-KEY).
A job is refused that another one was launched to repair (`scheduler.tick.repaired`).
"""

from datetime import datetime
from typing import NamedTuple

import msgspec

from tidegate.scheduler.decision.changes.carry import left_entry
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.route import is_early
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import NOBODY, By, Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused, UnknownName, refuse_instance, refuse_operation
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.repaired import repaired_by
from tidegate.scheduler.tick.tick import advance_before

KEYS_SHOWN = 5
"""Keys that a refusal names."""


def requeue(transaction: EngineTransaction, job: str, now: datetime, by: By) -> Job:
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
    return _put(transaction, _requeued(transaction, found, now, by))


def check_requeue(reader: EngineReader, job: Job, now: datetime) -> None:
    """Refuse to queue a job again that `requeue` would refuse.

    Raises:
        Refused: it is not a dead letter or is an operation on a table, or its schedule is not deployed.
    """
    _requeued(reader, job, now, NOBODY)


def retry(transaction: EngineTransaction, job: str, now: datetime, by: By) -> Job:
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
    return _put(transaction, _retried(transaction, found, now, by))


def check_retry(reader: EngineReader, job: Job, now: datetime) -> None:
    """Refuse to retry a job that `retry` would refuse.

    Raises:
        Refused: it has not failed, is an instance or an operation on a table, or its schedule is not
            deployed.
    """
    _retried(reader, job, now, NOBODY)


class Again(NamedTuple):
    """A job that is queued again.

    Attributes:
        job: as it is from now on.
        early: its deliveries of periods that have not begun, which leave it.
    """

    job: Job
    entry: Entry
    early: tuple[Delivery, ...] = ()


def _requeued(reader: EngineReader, job: Job, now: datetime, by: By) -> Again:
    refuse_operation(job)
    if job.reason is Reason.D_REPAIRED:
        _refuse_repaired(reader, job)
    if job.reason is not Reason.F_LAUNCH:
        because = "" if job.reason is None else f" ({job.reason})"
        raise Refused(
            f"job {job.id} is not a dead letter: it is {job.state}{because}",
            "only a dead letter (F-LAUNCH) can be queued again; `tidegate jobs retry` runs a job again"
            " whose run failed",
        )
    return _again(reader, job, "requeue", now, by)


def _retried(reader: EngineReader, job: Job, now: datetime, by: By) -> Again:
    refuse_instance(job, "tidegate instances rerun")
    refuse_operation(job)
    if job.waiting and job.retry_at is not None:
        return _at_once(reader, job, now, by)
    if job.reason is Reason.D_REPAIRED:
        _refuse_repaired(reader, job)
    if job.state is not JobState.FAILED:
        raise Refused(
            f"job {job.id} is {job.state} and cannot be retried",
            "only a failed job can be retried; `tidegate schedules trigger` opens another job",
        )
    return _again(reader, job, "requeue" if job.reason is Reason.F_LAUNCH else "retry", now, by)


def _put(transaction: EngineTransaction, again: Again) -> Job:
    transaction.put_jobs([again.job])
    transaction.add_journal([again.entry])
    if again.early:
        at = again.entry.at
        dropped = [msgspec.structs.replace(each, reason=Reason.D_KEY, at=at) for each in again.early]
        transaction.remove_deliveries(again.early)
        transaction.add_deliveries(dropped)
        transaction.add_journal([left_entry(again.job.id, each, at) for each in dropped])
    return again.job


def _at_once(reader: EngineReader, found: Job, now: datetime, by: By) -> Again:
    data = {"action": "trigger", "key": found.key, **by.noted}
    entry = Entry(at=now, kind=EntryKind.MANUAL, schedule=found.schedule, job=found.id, data=data)
    return Again(record(found, entry, _schedule_of(reader, found), next_check_at=now), entry)


def _refuse_repaired(reader: EngineReader, job: Job) -> None:
    by_repair = repaired_by(reader, job)
    if by_repair is not None:
        raise Refused(
            f"job {job.id} is repaired: job {by_repair} was launched with its events too, and a further"
            " attempt would replace newer rows",
            f"`tidegate jobs retry {by_repair}` runs that one again, if it failed; `tidegate schedules"
            " trigger` opens another job",
        )


def _schedule_of(reader: EngineReader, job: Job) -> ScheduleState:
    state = next(iter(reader.schedules(refs=[job.schedule])), None)
    if state is None:
        raise Refused(
            f"job {job.id} cannot be queued again: its schedule {job.schedule} is not deployed",
            "deploy the schedule again first",
        )
    return state


def _again(reader: EngineReader, found: Job, action: str, now: datetime, by: By) -> Again:
    _refuse_repaired(reader, found)
    state = _schedule_of(reader, found)
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
    early = _early(reader, found, state, now) if action == "requeue" and found.failed_run is None else ()
    return Again(record(found, entry, state), entry, early)


def _early(reader: EngineReader, job: Job, state: ScheduleState, now: datetime) -> tuple[Delivery, ...]:
    """Return the deliveries of a dead letter that are of periods that have not begun.

    Such keys are refused when they come, unless the clock was ahead; no run can be launched with them.

    Raises:
        Refused: it has no others.
    """
    deliveries = reader.deliveries([job.id])[job.id]
    app = load_apps(reader, [state])[state.app]
    early = tuple(each for each in deliveries if is_early(each.event, each.leaf, state.spec, app, now))
    if early and len(early) == len(deliveries):
        keys = ", ".join(sorted({each.event.partition or "" for each in early})[:KEYS_SHOWN])
        raise Refused(
            f"job {job.id} has only keys of periods that have not begun ({keys}), so no run can be launched",
            "report the right key; the job can stay as it is",
        )
    return early
