"""Instances: what people do to instances of tasks: mark, pause, resume, rerun (docs/cycles.md, "Status").

Each action is one journaled change in the caller's transaction. `scheduler.decision.instances.actions` has
the table of what is allowed. A run that is stopped is fenced at once: its attempt is over, so it can no
longer publish; the dispatcher ends it in Dagster (`scheduler.launch.stopped`).
"""

from datetime import datetime

from tidegate.domain.tasks.key import TaskKeyError, parse_scheduled, scheduled_key, scheduled_of
from tidegate.domain.value import Value
from tidegate.scheduler.decision.instances.actions import ALLOWED, Action, status_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By, EntryKind
from tidegate.scheduler.model.refused import InstanceRefused, Refused, UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.named import named_instance
from tidegate.scheduler.tick.rerun import change_instances, decide_now, rerun
from tidegate.scheduler.tick.tick import advance_before

_KINDS = {
    Action.MARK_SUCCESSFUL: EntryKind.MARKED,
    Action.PAUSE: EntryKind.PAUSED,
    Action.RESUME: EntryKind.RERUN,
    Action.RERUN: EntryKind.RERUN,
}


class InstanceName(Value, kw_only=True):
    """The name of an instance: its scheduled time, or its business date; of a backfill also its number."""

    scheduled: str | None = None
    business_date: str | None = None
    number: int = 0

    def __str__(self) -> str:
        which = self.scheduled or f"of business date {self.business_date}"
        return which + (f" of backfill {self.number}" if self.number else "")


def act(
    transaction: EngineTransaction,
    ref: str,
    name: InstanceName,
    action: Action,
    now: datetime,
    by: By,
    *,
    downstream: bool = False,
) -> tuple[Job, ...]:
    """Carry out an action on an instance.

    Args:
        ref: the task, "app/name".
        downstream: of a rerun: its consumers run again too.

    Returns:
        The instances that were changed, the named one first.

    Raises:
        InstanceRefused: the task or the instance does not exist, or its status does not allow the action.
    """
    advance_before(transaction, now)
    state = instance_state(transaction, ref, name)
    job = instance_named(transaction, state, name)
    status = status_of(job)
    if status not in ALLOWED[action]:
        raise _not_allowed(state, name, action, status)
    if action is Action.RERUN:
        return rerun(transaction, [job], now, by, downstream=downstream)
    changed = change_instances(transaction, [job], _KINDS[action], now, by, str(action))
    return changed if action is not Action.RESUME else decide_now(transaction, changed, now)


def act_on_job(
    transaction: EngineTransaction,
    job: str,
    now: datetime,
    by: By,
    *,
    action: str,
    downstream: bool = False,
) -> tuple[Job, ...]:
    """Carry out an action on an instance that is named by its job.

    Args:
        action: the value of an `Action`.

    Raises:
        Refused: there is no such job, or it is not an instance.
        InstanceRefused: its status does not allow the action.
    """
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise UnknownName(f"there is no job {job}", "`tidegate jobs list` shows the jobs")
    name = _name_of(found)
    return act(transaction, found.schedule, name, Action(action), now, by, downstream=downstream)


def check_act(reader: EngineReader, job: Job, _now: datetime, *, action: str, downstream: bool) -> None:
    """Refuse an action on an instance that `act` would refuse.

    Raises:
        Refused: the job is not an instance.
        InstanceRefused: its task is not deployed, or its status does not allow the action.
    """
    name, wanted = _name_of(job), Action(action)
    state = instance_state(reader, job.schedule, name)
    if status_of(job) not in ALLOWED[wanted]:
        raise _not_allowed(state, name, wanted, status_of(job))


def _name_of(job: Job) -> InstanceName:
    if job.instance is None:
        raise Refused(
            f"job {job.id} is not an instance of a task",
            "`tidegate jobs retry` runs a job again, `tidegate jobs cancel` ends one",
        )
    return InstanceName(scheduled=job.instance.key, number=job.instance.number)


def instance_state(reader: EngineReader, ref: str, name: InstanceName) -> ScheduleState:
    """Return a deployed task, or of an instance of a backfill also a schedule.

    Raises:
        InstanceRefused: nothing of that name is deployed.
    """
    state = next(iter(reader.schedules(refs=(ref,))), None)
    return state if state is not None and name.number else task_state(reader, ref)


def task_state(reader: EngineReader, ref: str) -> ScheduleState:
    """Return a deployed task.

    Raises:
        InstanceRefused: no task of that name is deployed.
    """
    state = next(iter(reader.schedules(refs=(ref,))), None)
    if state is None or state.spec.task is None:
        raise InstanceRefused("E-TASK", f"no task {ref} is deployed", "`tidegate tasks list` shows what is")
    return state


def instance_named(reader: EngineReader, state: ScheduleState, name: InstanceName) -> Job:
    """Return an instance of a task.

    Raises:
        InstanceRefused: the time is malformed or impossible, or has no instance.
    """
    if state.spec.task is None:
        return _keyed(reader, state, name)
    task = state.spec.as_task
    try:
        if name.scheduled is not None:
            scheduled = parse_scheduled(task, name.scheduled)
        else:
            scheduled = scheduled_of(task, name.business_date or "")
    except TaskKeyError as error:
        raise InstanceRefused(
            "E-TIME", str(error), "`tidegate instances list` shows the instances"
        ) from error
    found = named_instance(reader, state.ref, scheduled, scheduled_key(task, scheduled), number=name.number)
    if found is None:
        raise InstanceRefused(
            "E-TIME", f"{state.ref} has no instance {name}", "`tidegate instances list` shows the instances"
        )
    return found


def _keyed(reader: EngineReader, state: ScheduleState, name: InstanceName) -> Job:
    """Return the instance of a schedule in a backfill, by its key."""
    key = name.scheduled or name.business_date
    jobs = reader.instances(backfill=name.number) if name.number else ()
    for job in jobs:
        if job.schedule == state.ref and job.key == key:
            return job
    raise InstanceRefused(
        "E-TIME",
        f"{state.ref} has no instance {name}",
        "`tidegate instances list --backfill N` shows the instances of a backfill",
    )


def _not_allowed(state: ScheduleState, name: InstanceName, action: Action, status: Status) -> InstanceRefused:
    allowed = " or ".join(str(each).replace("_", " ") for each in Status if each in ALLOWED[action])
    what = str(action).replace("_", " ")
    hint = f"{what} needs an instance that is {allowed}"
    if action is Action.RERUN and status is Status.PAUSED:
        hint = "resume it instead"
    return InstanceRefused(
        "E-STATE", f"{state.ref} {name} is {str(status).replace('_', ' ')}, which does not allow {what}", hint
    )
