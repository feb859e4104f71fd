"""State: what decisions and explanations depend on at an instant, as one compressed text.

`why --at` begins with it and reads the journal on (`scheduler.explain.past`). It holds what is open, not
what is over: jobs that have not ended, with their events; instances of the days around; slots, launches
that a `rate` counts, the last runs of each program, gauges and backfills.
"""

import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.commands.backfills.request import NEWEST
from tidegate.scheduler.decision.retention import AROUND, longest_rate
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState, noted
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.model.run import GAUGES, Gauge, Launched, Run, RunStatus
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.tick.upstream import backfill_cursor

OPEN = tuple(state for state in JobState if state not in FINISHED)


class State(Value, kw_only=True):
    """The state at an instant.

    Attributes:
        slots: by holder.
        runs: active ones, and for each program one or two with the instants of its last ones.
        backfills: requests by number.
        overrides: without the texts that they revert to.
    """

    apps: tuple[DeployedApp, ...]
    schedules: tuple[ScheduleState, ...]
    jobs: tuple[Job, ...]
    deliveries: tuple[Delivery, ...]
    slots: dict[str, tuple[str, ...]]
    launches: tuple[Launched, ...]
    runs: tuple[Run, ...]
    gauges: tuple[Gauge, ...]
    backfills: dict[int, Any]
    overrides: tuple[Override, ...] = ()


def state_of(reader: ListingReader, clock: datetime) -> bytes:
    """Return the state that a reader sees."""
    apps, schedules = reader.records(APPS), reader.schedules()
    open_ = {job.id: job for job in reader.jobs(states=OPEN)}
    jobs = {**{job.id: job for job in _instances(reader, schedules, list(open_.values()), clock)}, **open_}
    seen = {id for job in open_.values() if job.repairs is not None for id in job.repairs.jobs}
    longest = longest_rate(each for state in schedules for each in state.spec.constraints)
    state = State(
        apps=tuple(msgspec.structs.replace(each, app=noted(each.app)) for each in apps),
        schedules=tuple(msgspec.structs.replace(each, spec=noted(each.spec)) for each in schedules),
        jobs=tuple(jobs.values()),
        deliveries=tuple(each for found in reader.deliveries(open_.keys() | seen).values() for each in found),
        slots=reader.slot_holders(),
        launches=reader.launched_since(clock - longest),
        runs=(*reader.runs(active=True), *_last_runs(reader, apps, clock)),
        gauges=reader.records(GAUGES),
        backfills=_backfills(reader, list(jobs.values())),
        overrides=tuple(msgspec.structs.replace(each, spec=None) for each in reader.records(OVERRIDES)),
    )
    return zlib.compress(msgspec.json.encode(state))


def read_state(text: bytes) -> State:
    """Return the state of a text of `state_of`."""
    return msgspec.json.decode(zlib.decompress(text), type=State)


def _instances(
    reader: EngineReader, schedules: tuple[ScheduleState, ...], open_: list[Job], clock: datetime
) -> Iterator[Job]:
    """Yield the finished instances that an open one, or one of the next day, may ask for."""
    tasks = [state.ref for state in schedules if state.spec.task is not None]
    if tasks:
        yield from reader.instances(tasks, clock - AROUND, clock + AROUND)
    for task in tasks:
        before = reader.instance_before(task, clock)
        if before is not None:
            yield before
    recorded = {edge.job for job in open_ if job.instance is not None for edge in job.instance.upstream}
    yield from reader.jobs(ids=recorded) if recorded else ()
    for number in sorted({job.instance.number for job in open_ if job.instance is not None} - {0}):
        yield from reader.instances(backfill=number)


def _last_runs(reader: EngineReader, apps: tuple[DeployedApp, ...], clock: datetime) -> Iterator[Run]:
    programs = [f"{deployed.name}/{name}" for deployed in apps for name in deployed.app.programs]
    for program, history in reader.history(programs).items():
        last = Run(
            run_id=f"last run of {program}", program=program, status=RunStatus.SUCCEEDED, seen_at=clock
        )
        if history.last_success_ended is not None:
            yield msgspec.structs.replace(
                last, started_at=history.last_success_started, ended_at=history.last_success_ended
            )
        if history.last_ended not in (None, history.last_success_ended):
            yield msgspec.structs.replace(
                last,
                run_id=f"last failed run of {program}",
                status=RunStatus.FAILED,
                ended_at=history.last_ended,
            )


def _backfills(reader: EngineReader, jobs: list[Job]) -> dict[int, Any]:
    numbers = {job.instance.number for job in jobs if job.instance is not None} - {0}
    newest = reader.cursor(NEWEST)
    numbers |= set() if newest is None else {newest}
    requests = {number: reader.cursor(backfill_cursor(number)) for number in sorted(numbers)}
    return {number: request for number, request in requests.items() if request is not None}
