"""Rerun: finished instances run again, if wanted with all their consumers (docs/cycles.md, "Status").

A person asks for it, or a second report of data that instances have read. A run that is stopped is fenced at
once: its attempt is over, so it can no longer publish; the dispatcher ends it in Dagster
(`scheduler.launch.stopped`). Part of the shell.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model.triggers.task import NEAR
from tidegate.scheduler.decision.instances.actions import RUN_AGAIN, Action, status_of
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.instance import task_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.upstream import load_upstream

LONGEST_GAP, ONE_YEAR = timedelta(days=32), timedelta(days=367)
"""From an instance to the next one of the same task, of hours and minutes, and of days."""


def rerun(
    transaction: EngineTransaction, jobs: Collection[Job], now: datetime, by: By, *, downstream: bool
) -> tuple[Job, ...]:
    """Put finished instances back to Not Run, with or without their consumers, in a new attempt each."""
    found = {job.id: job for job in jobs}
    if downstream:
        found |= {job.id: job for job in consumers_of(transaction, found) if status_of(job) in RUN_AGAIN}
    changed = change_instances(transaction, found.values(), EntryKind.RERUN, now, by, str(Action.RERUN))
    return decide_now(transaction, changed, now)


def consumers_of(reader: EngineReader, jobs: Mapping[str, Job]) -> tuple[Job, ...]:
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


def _of_deployed(reader: EngineReader, ids: Collection[str]) -> Iterator[Job]:
    """Yield the jobs with these ids whose schedules are deployed."""
    if ids:
        jobs = reader.jobs(ids=ids)
        refs = {state.ref for state in reader.schedules(refs={job.schedule for job in jobs})}
        yield from (job for job in jobs if job.schedule in refs)


def _unrecorded_consumers(
    reader: EngineReader, jobs: Mapping[str, Job], known: dict[str, tuple[Upstream, ...]]
) -> list[Job]:
    """Return the instances without recorded edges that have one of some instances upstream.

    Args:
        known: the upstream instances that were looked up before, by job; those of others are added. A
            chain of `self` asks for each of its instances in turn.
    """
    tasks = {
        each.schedule
        for each in reader.records(
            SUBSCRIPTIONS, event_key={task_event_key(job.schedule) for job in jobs.values()}
        )
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
    reader: EngineReader, consumers: Mapping[str, ScheduleState], jobs: Collection[Job]
) -> Iterator[Job]:
    """Yield the instances of tasks that have ended and may have one of some instances upstream."""
    times = [job.of_task.scheduled for job in jobs]
    tasks = {job.schedule for job in jobs}
    for ref, state in consumers.items():
        before = reach = max((each.reach for each in state.spec.as_task.depends_on), default=NEAR)
        if ref in tasks:
            # It may wait for its own instance before, over days without business and empty runs.
            reach = max(reach, LONGEST_GAP if state.spec.as_task.cycle in ("hour", "minute") else ONE_YEAR)
        for number in {job.of_task.number for job in jobs}:
            near = reader.instances((ref,), min(times) - before, max(times) + reach, backfill=number)
            yield from (job for job in near if job.state in (JobState.SUCCEEDED, JobState.FAILED))


def change_instances(
    transaction: EngineTransaction, jobs: Iterable[Job], kind: EntryKind, now: datetime, by: By, action: str
) -> tuple[Job, ...]:
    """Write an entry of one kind for each of some instances, and return them as they are after it."""
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


def decide_now(transaction: EngineTransaction, jobs: Iterable[Job], now: datetime) -> tuple[Job, ...]:
    """Let the next tick decide about instances that run again."""
    due = tuple(msgspec.structs.replace(job, next_check_at=now) for job in jobs)
    transaction.put_jobs(due)
    return due
