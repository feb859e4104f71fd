"""Instances: what people do to instances of tasks: mark, pause, resume, rerun (docs/cycles.md, "Status").

Each action is one journaled change in the caller's transaction. `scheduler.decision.instances.actions` has
the table of what is allowed. A run that is stopped is fenced at once: its attempt is over, so it can no
longer publish; the dispatcher ends it in Dagster (`scheduler.launch.stopped`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.tasks.key import TaskKeyError, parse_scheduled, scheduled_of
from tidegate.domain.value import Value
from tidegate.scheduler.decision.instances.actions import ALLOWED, RUN_AGAIN, Action, status_of
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Status, task_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.store.protocol import Reader, Transaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.tick import advance_before
from tidegate.scheduler.tick.upstream import load_upstream

NEAR = timedelta(days=3)
"""Further than that no cell of the matrix reaches: a container is a day, or the day before."""
LONGEST_GAP, ONE_YEAR = timedelta(days=32), timedelta(days=367)
"""From an instance to the next one of the same task, of hours and minutes, and of days."""

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
    transaction: Transaction,
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
    state = task_state(transaction, ref)
    job = instance_named(transaction, state, name)
    status = status_of(job)
    if status not in ALLOWED[action]:
        raise _not_allowed(state, name, action, status)
    if action is Action.RERUN:
        return rerun(transaction, [job], now, by, downstream=downstream)
    changed = _apply(transaction, [job], _KINDS[action], now, by, str(action))
    return changed if action is not Action.RESUME else _due(transaction, changed, now)


def rerun(
    transaction: Transaction, jobs: Collection[Job], now: datetime, by: By, *, downstream: bool
) -> tuple[Job, ...]:
    """Put finished instances back to Not Run, with or without their consumers, in a new attempt each."""
    found = {job.id: job for job in jobs}
    if downstream:
        found |= {job.id: job for job in consumers_of(transaction, found) if status_of(job) in RUN_AGAIN}
    changed = _apply(transaction, found.values(), EntryKind.RERUN, now, by, str(Action.RERUN))
    return _due(transaction, changed, now)


def consumers_of(reader: Reader, jobs: Mapping[str, Job]) -> tuple[Job, ...]:
    """Return the instances with an edge to any of some instances (by id), or to one of their consumers.

    Edges of an instance that is Not Run, or has ended as such, are not recorded: its upstream instances are
    looked up. The instances of a task that is deleted stay what they are, and wait for nothing any more.
    """
    found: dict[str, Job] = {}
    known: dict[str, tuple[Upstream, ...]] = {}
    ahead = dict(jobs)
    while ahead:
        recorded = reader.consumers(ahead.keys())
        unrecorded = _unrecorded_consumers(reader, ahead, known)
        consumers = [*_of_deployed(reader, recorded), *unrecorded]
        ahead = {job.id: job for job in consumers if job.id not in jobs and job.id not in found}
        found |= ahead
    return reader.jobs(ids=found.keys()) if found else ()


def _of_deployed(reader: Reader, ids: Collection[str]) -> Iterator[Job]:
    """Yield the jobs with these ids whose schedules are deployed."""
    if ids:
        jobs = reader.jobs(ids=ids)
        refs = {state.ref for state in reader.schedules(refs={job.schedule for job in jobs})}
        yield from (job for job in jobs if job.schedule in refs)


def _unrecorded_consumers(
    reader: Reader, jobs: Mapping[str, Job], known: dict[str, tuple[Upstream, ...]]
) -> list[Job]:
    """Return the instances without recorded edges that have one of some instances upstream.

    Args:
        known: the upstream instances that were looked up before, by job; those of others are added. A
            chain of `self` asks for each of its instances in turn.
    """
    tasks = {
        each.schedule
        for each in reader.subscriptions({task_event_key(job.schedule) for job in jobs.values()})
    }
    if not tasks:
        return []
    states = {state.ref: state for state in reader.schedules(refs=tasks) if state.spec.task is not None}
    waiting = reader.jobs(schedules=tasks, states=(JobState.PENDING_TRIGGER, JobState.PAUSED))
    every = (*waiting, *_ended_near(reader, states, jobs.values()))
    found = [job for job in every if job.satisfied_at is None]
    known |= load_upstream(reader, [job for job in found if job.id not in known], states)
    return [
        job
        for job in found
        if any(one.id in jobs for each in known.get(job.id, ()) if each.recorded for one in each.picked)
    ]


def _ended_near(
    reader: Reader, consumers: Mapping[str, ScheduleState], jobs: Collection[Job]
) -> Iterator[Job]:
    """Yield the instances of tasks that have ended and may have one of some instances upstream."""
    times = [job.of_task.scheduled for job in jobs]
    tasks = {job.schedule for job in jobs}
    for ref, state in consumers.items():
        reach = NEAR
        if ref in tasks:
            # It may wait for its own instance before, over days without business and empty runs.
            reach = LONGEST_GAP if state.spec.as_task.cycle in ("hour", "minute") else ONE_YEAR
        for number in {job.of_task.number for job in jobs}:
            near = reader.instances((ref,), min(times) - NEAR, max(times) + reach, backfill=number)
            yield from (job for job in near if job.state in (JobState.SUCCEEDED, JobState.FAILED))


def task_state(reader: Reader, ref: str) -> ScheduleState:
    """Return a deployed task.

    Raises:
        InstanceRefused: no task of that name is deployed.
    """
    state = next(iter(reader.schedules(refs=(ref,))), None)
    if state is None or state.spec.task is None:
        raise InstanceRefused("E-TASK", f"no task {ref} is deployed", "`tidegate tasks list` shows what is")
    return state


def instance_named(reader: Reader, state: ScheduleState, name: InstanceName) -> Job:
    """Return an instance of a task.

    Raises:
        InstanceRefused: the time is malformed or impossible, or has no instance.
    """
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
    found = reader.instances((state.ref,), scheduled, scheduled, backfill=name.number)
    if not found:
        raise InstanceRefused(
            "E-TIME", f"{state.ref} has no instance {name}", "`tidegate instances list` shows the instances"
        )
    return found[0]


def _not_allowed(state: ScheduleState, name: InstanceName, action: Action, status: Status) -> InstanceRefused:
    allowed = " or ".join(str(each).replace("_", " ") for each in Status if each in ALLOWED[action])
    what = str(action).replace("_", " ")
    hint = f"{what} needs an instance that is {allowed}"
    if action is Action.RERUN and status is Status.PAUSED:
        hint = "resume it instead"
    return InstanceRefused(
        "E-STATE", f"{state.ref} {name} is {str(status).replace('_', ' ')}, which does not allow {what}", hint
    )


def _apply(
    transaction: Transaction, jobs: Iterable[Job], kind: EntryKind, now: datetime, by: By, action: str
) -> tuple[Job, ...]:
    jobs = tuple(jobs)
    states = {state.ref: state for state in transaction.schedules(refs={job.schedule for job in jobs})}
    pairs = [(job, _entry(job, states.get(job.schedule), kind, now, by, action)) for job in jobs]
    transaction.add_journal([entry for _, entry in pairs])
    ended = end_jobs(transaction, pairs)
    if kind is EntryKind.RERUN:
        transaction.put_edges({job.id: () for job in ended})
    return ended


def _entry(
    job: Job, state: ScheduleState | None, kind: EntryKind, now: datetime, by: By, action: str
) -> Entry:
    held = state is not None and not state.active
    data = {"action": action, "by": by.actor, "why": by.reason, "held": held}
    return Entry(at=now, kind=kind, schedule=job.schedule, job=job.id, run_id=job.run_id, data=data)


def _due(transaction: Transaction, jobs: Iterable[Job], now: datetime) -> tuple[Job, ...]:
    """Let the next tick decide about instances that run again."""
    due = tuple(msgspec.structs.replace(job, next_check_at=now) for job in jobs)
    transaction.put_jobs(due)
    return due
