"""Around: load what decides about an operation besides its record, and name the jobs behind it."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from tidegate.scheduler.explain.holders import resources_held
from tidegate.scheduler.explain.operations.checks import Around
from tidegate.scheduler.model.job import ACTIVE, Job
from tidegate.scheduler.model.maintenance import TableState
from tidegate.scheduler.model.run import group_resource
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.by_hand import writers_of
from tidegate.scheduler.tick.maintenance.look import free_slots, spent
from tidegate.scheduler.tick.maintenance.policies import Policies


def load_around(reader: EngineReader, policies: Policies, table: TableState, now: datetime) -> Around:
    """Return what decides about each operation on a table at an instant, but for what pipelines write."""
    slots = free_slots(reader, policies)
    full = [pool for pool, free in slots.items() if free <= 0]
    active = reader.jobs(states=ACTIVE) if full else ()
    return Around(
        run=next(iter(reader.operation_runs(tables=(table.name,), running=True)), None),
        spent=spent(reader, policies, now),
        slots=slots,
        holders={pool: tuple(_holders(reader, active, group_resource(pool))) for pool in full},
    )


def with_writers(
    reader: EngineReader, policies: Policies, around: Around, table: TableState, now: datetime
) -> Around:
    """Return the same with what pipelines write of the table, which decides about what rewrites its data."""
    busy = writers_of(reader, policies, table, now)
    writers = reader.jobs(ids=busy.jobs) if busy.jobs else ()
    return msgspec.structs.replace(around, busy=busy, writers=tuple(_line(job) for job in writers))


def _holders(reader: EngineReader, active: tuple[Job, ...], resource: str) -> Iterator[str]:
    """Yield each job, and each run without a job, that holds a slot of a resource."""
    for job in active:
        if resource in job.resources and not job.gave_back:
            yield _line(job)
    for run in reader.runs(active=True):
        if run.job is None and resource in resources_held(reader, run):
            yield f"run {run.run_id} of {run.program}, {run.status}"


def _line(job: Job) -> str:
    name = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    return f"job {job.id} of {name}, {job.state}"
