"""Instances: what an instance of a task waits for: its upstream instances, by rule, and since when.

An instance that is Not Run looks its upstream instances up; from then on they are recorded. Changes nothing.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import assert_never

from tidegate.domain.value import Value
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.instance import Instance, Status, task_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.upstream import load_upstream

AROUND = timedelta(days=2)
"""A consumer has a scheduled time so near, if it does not look into a longer period."""


class Awaited(Value, kw_only=True):
    """One upstream instance of an instance.

    Attributes:
        status: of the instance.
        task: its task, "app/name".
        key: its scheduled time, as a key.
        job: its id.
        rule: the rule that has picked it, for people.
        since: when its status became what it is; None if that is not known.
    """

    task: str
    key: str
    job: str
    rule: str
    status: Status
    since: datetime | None


def upstream_of(
    reader: EngineReader, jobs: Collection[Job], now: datetime | None = None
) -> dict[str, tuple[Upstream, ...]]:
    """Return what the dependencies of instances have picked, by job, recorded or as it would be now.

    Args:
        now: see `load_upstream`.
    """
    open_ = [job for job in jobs if not is_recorded(job)]
    states = {state.ref: state for state in reader.schedules(refs={job.schedule for job in open_})}
    found = load_upstream(reader, open_, states, now)
    recorded = {job.id: job.instance for job in jobs if is_recorded(job) and job.instance is not None}
    ids = {edge.job for instance in recorded.values() for edge in instance.upstream}
    picked = {job.id: job for job in reader.jobs(ids=ids)} if ids else {}
    return {**found, **{id: _recorded(instance, picked) for id, instance in recorded.items()}}


def is_recorded(job: Job) -> bool:
    """Return whether the upstream instances of an instance are recorded, or do not matter any more."""
    return job.satisfied_at is not None or job.state not in (JobState.PENDING_TRIGGER, JobState.PAUSED)


def _recorded(instance: Instance, picked: dict[str, Job]) -> tuple[Upstream, ...]:
    edges = tuple(
        Upstream(task=edge.task, rule=edge.rule, picked=(picked[edge.job],), found=1)
        for edge in instance.upstream
        if edge.job in picked
    )
    missing = tuple(
        # A dependency with a hole may have picked others: it is not a missing edge.
        Upstream(task=each.task, rule=each.rule, found=each.found, hole=each.hole, recorded=each.hole is None)
        for each in instance.diagnostics
    )
    return edges + missing


def awaited(reader: EngineReader, upstream: Collection[Upstream]) -> tuple[Awaited, ...]:
    """Return the upstream instances that dependencies have picked."""
    return tuple(
        Awaited(
            task=each.task,
            key=job.key,
            job=job.id,
            rule=each.rule,
            status=status_of(job),
            since=status_since(reader, job),
        )
        for each in upstream
        for job in each.picked
    )


def status_since(reader: EngineReader, job: Job) -> datetime | None:
    """Return when an instance got the status that it has."""
    status = status_of(job)
    match status:
        case Status.NOT_RUN:
            again = None if job.instance is None else job.instance.counts_from
            return max(job.opened_at, again or job.opened_at)
        case Status.WAITING:
            return job.satisfied_at
        case Status.RUNNING:
            return job.launched_at
        case Status.PAUSED:
            entries = reader.journal(job=job.id)
            return next((entry.at for entry in reversed(entries) if entry.kind is EntryKind.PAUSED), None)
        case Status.SUCCESSFUL | Status.FAILED | Status.ABSENT:
            return job.ended_at
        case _:
            assert_never(status)


def consumers_of(reader: EngineReader, job: Job) -> tuple[tuple[Job, str], ...]:
    """Return the instances that wait, or have waited, for an instance, each with the rule that picked it.

    Those that are Not Run are looked up among the instances of some days around it.
    """
    instance = job.of_task
    listening = {
        each.schedule for each in reader.records(SUBSCRIPTIONS, event_key={task_event_key(job.schedule)})
    }
    states = reader.schedules(refs=listening) if listening else ()
    long = [each.reach for state in states for each in state.spec.as_task.depends_on]
    around = max((AROUND, *long))
    first, last = instance.scheduled - around, instance.scheduled + around
    near = reader.instances({*listening, job.schedule}, first, last, backfill=instance.number)
    recorded = reader.consumers({job.id})
    found = {each.id: each for each in near if not is_recorded(each)}
    found |= {each.id: each for each in reader.jobs(ids=recorded)} if recorded else {}
    upstream = upstream_of(reader, list(found.values()))
    return tuple(
        (each, picked.rule)
        for each in sorted(found.values(), key=lambda each: (each.schedule, each.key, each.id))
        for picked in upstream.get(each.id, ())
        if any(one.id == job.id for one in picked.picked)
    )
