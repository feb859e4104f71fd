"""Roots: the instances at the beginning of what an instance waits for, and the command that helps each.

    the instance ──► its upstream instances that are not successful ──► theirs ──► … ──► roots

A root waits for no other instance: it has failed, is paused, is not reported, is held, runs, or its time has
not come. The chain is followed level by level, by index. Changes nothing.
"""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from tidegate.domain.model import TaskTrigger
from tidegate.domain.value import Value
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.explain.instances.awaited import status_since, upstream_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance, Status
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader

FOLLOWED_MAX = 2000
"""So many instances of the chains are looked at; a longer chain of `self` ends there."""


class RootKind(StrEnum):
    """What is the matter with a root; the first four need a person, in this order."""

    FAILED = "failed"
    PAUSED = "paused"
    REPORT = "report"
    HELD = "held"
    WAITING = "waiting"
    RUNNING = "running"
    NEXT_TICK = "next-tick"
    TIME = "time"

    @property
    def needs_a_person(self) -> bool:
        return self in (RootKind.FAILED, RootKind.PAUSED, RootKind.REPORT, RootKind.HELD)


_TIMELESS = (RootKind.TIME, RootKind.NEXT_TICK)


class Root(Value, kw_only=True):
    """One instance that must go on before the explained one can.

    Attributes:
        kind: what it is held by.
        task: its task, "app/name".
        key: its scheduled time, as a key.
        job: its id.
        what: for people.
        since: since when it has been like that; None if that is not known.
        by: when time alone changes it.
        command: what helps; "" where nothing is to be done.
        path: the chain from the explained instance to this one, each with the rule that picked it.
    """

    kind: RootKind
    task: str
    key: str
    job: str
    what: str
    since: datetime | None = None
    by: datetime | None = None
    command: str = ""
    path: tuple[str, ...] = ()


def roots(reader: EngineReader, job: Job, now: datetime) -> tuple[Root, ...]:
    """Return the roots of what an instance waits for, those that need a person first.

    Of those whose time has not come only the last one is returned.
    """
    found: list[Root] = []
    paths: dict[str, tuple[str, ...]] = {job.id: ()}
    ahead = [job]
    while ahead and len(paths) <= FOLLOWED_MAX:
        refs = {each.schedule for each in ahead}
        states = {state.ref: state for state in reader.schedules(refs=refs)}
        upstream = upstream_of(reader, [each for each in ahead if status_of(each) is Status.NOT_RUN])
        following: dict[str, Job] = {}
        for each in ahead:
            unmet = _unmet(upstream.get(each.id, ()))
            state = states.get(each.schedule)
            found += _of(reader, each, state, now, paths[each.id], bool(unmet))
            for rule, next_ in unmet:
                if next_.id not in paths:
                    paths[next_.id] = (*paths[each.id], f"{next_.schedule} {next_.key}, {rule}")
                    following[next_.id] = next_
        ahead = list(following.values())
    return _in_order(found)


def _unmet(upstream: Collection[Upstream]) -> list[tuple[str, Job]]:
    return [(each.rule, job) for each in upstream for job in each.picked if job.state != JobState.SUCCEEDED]


def _in_order(found: Collection[Root]) -> tuple[Root, ...]:
    kinds = list(RootKind)
    times = sorted((root for root in found if root.kind is RootKind.TIME), key=lambda root: str(root.by))
    others = [root for root in found if root.kind is not RootKind.TIME]
    return (*sorted(others, key=lambda root: kinds.index(root.kind)), *times[-1:])


def _of(
    reader: EngineReader,
    job: Job,
    state: ScheduleState | None,
    now: datetime,
    path: tuple[str, ...],
    waits: bool,
) -> list[Root]:
    """Return the roots that one instance of a chain is itself.

    Args:
        waits: whether it waits for other instances.
    """
    task = None if state is None else state.spec.task
    found = [
        (kind, what, by)
        for kind, what, by in _causes(job, job.of_task, task, now, waits)
        if path or kind not in (RootKind.WAITING, RootKind.RUNNING, RootKind.NEXT_TICK)
    ]
    return [
        Root(
            kind=kind,
            task=job.schedule,
            key=job.key,
            job=job.id,
            what=what,
            since=None if kind in _TIMELESS else status_since(reader, job),
            by=by,
            command=_command(kind, job, job.of_task, task),
            path=path,
        )
        for kind, what, by in found
    ]


def _causes(
    job: Job, instance: Instance, task: TaskTrigger | None, now: datetime, waits: bool
) -> list[tuple[RootKind, str, datetime | None]]:
    status = status_of(job)
    match status:
        case Status.FAILED:
            reason = "" if job.reason is None else f": {job.reason} {job.reason.summary}"
            return [(RootKind.FAILED, f"failed{reason}" + (f", {job.detail}" if job.detail else ""), None)]
        case Status.PAUSED:
            return [(RootKind.PAUSED, "paused", None)]
        case Status.RUNNING:
            return [(RootKind.RUNNING, f"runs, run {job.run_id}", None)]
        case Status.WAITING:
            if job.held_at is not None:
                return [(RootKind.HELD, "its task is suspended", None)]
            reason = "asked for" if job.reason is None else f"{job.reason} {job.reason.summary}"
            return [(RootKind.WAITING, f"waiting: {reason}", job.retry_at)]
        case Status.NOT_RUN:
            return list(_of_not_run(job, instance, task, now, waits))
        case Status.SUCCESSFUL | Status.ABSENT:
            return []
        case _:
            assert_never(status)


def _of_not_run(
    job: Job, instance: Instance, task: TaskTrigger | None, now: datetime, waits: bool
) -> list[tuple[RootKind, str, datetime | None]]:
    found: list[tuple[RootKind, str, datetime | None]] = []
    if instance.start > now:
        found.append((RootKind.TIME, "its start time has not come", instance.start))
    elif task is not None and task.reported and not instance.empty and not instance.number:
        found.append((RootKind.REPORT, "nothing has been reported from outside", None))
    if job.held_at is not None and task is not None and task.launches and not instance.empty:
        found.append((RootKind.HELD, "its task is suspended", None))
    if not found and not waits:
        found.append((RootKind.NEXT_TICK, "the next tick decides it", None))
    return found


def _command(kind: RootKind, job: Job, instance: Instance, task: TaskTrigger | None) -> str:
    name = f"{job.schedule} {job.key}" + (f" --backfill {instance.number}" if instance.number else "")
    match kind:
        case RootKind.FAILED if task is not None and not task.launches and not instance.number:
            return f"tidegate report {job.schedule} {job.key} --status successful"
        case RootKind.FAILED:
            return f"tidegate instances rerun {name}"
        case RootKind.PAUSED:
            return f"tidegate instances resume {name}"
        case RootKind.REPORT:
            return f"tidegate report {job.schedule} {job.key} --status successful"
        case RootKind.HELD:
            return f"tidegate schedules resume {job.schedule}"
        case RootKind.WAITING | RootKind.RUNNING:
            return f"tidegate why {name}"
        case RootKind.NEXT_TICK | RootKind.TIME:
            return ""
        case _:
            assert_never(kind)
