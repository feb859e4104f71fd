"""Slices made by hand: what the tests of pure functions of the engine decide about.

The schedule is program `q` of app `a`, triggered by any partition of `raw`; its job was satisfied
at ten. Times are written as in `tests.worlds.world`.
"""

from datetime import timedelta
from typing import Any

import msgspec

from tests.worlds.world import at
from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.model import App, Dataset, PartitionsTrigger, Program, Schedule
from tidegate.scheduler.decision.view.job_view import JobView, resources_of
from tidegate.scheduler.model.event import Delivery, Event, EventKind, partition_event_key, run_event_key
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import ALL_RUNS, program_resource

APP = App(
    name="a",
    datasets={name: Dataset(name=name) for name in ("raw", "other")},
    programs={"q": Program(name="q", run="programs.q")},
)
SCHEDULE = Schedule(name="s", program="q", trigger=PartitionsTrigger(dataset="raw"))
JOB = Job(id="j", schedule="a/s", opened_at=at("10:00"), first_event_at=at("10:00"), satisfied_at=at("10:00"))

SECOND = timedelta(seconds=1)


def job_view_of(
    *constraints: Any, job: Job = JOB, slots: dict[str, int] | None = None, **parts: Any
) -> JobView:
    """A job view of the schedule with these constraints; fields of Schedule and of JobView by name."""
    schedule_fields = {name: parts.pop(name) for name in list(parts) if name in Schedule.__struct_fields__}
    schedule = msgspec.structs.replace(SCHEDULE, constraints=constraints, **schedule_fields)
    taken = dict.fromkeys(resources_of("a", schedule), 0) | (slots or {})
    return JobView(app=APP, schedule=schedule, job=job, slots=taken, **parts)


def partition(clock: str, dataset: str, key: str, id: str = "", leaf: str = "", **fields: Any) -> Delivery:
    """A partition that the job has collected."""
    event = Event(
        id=id or f"{clock}-{dataset}-{key}",
        kind=EventKind.PARTITION,
        key=partition_event_key("a", dataset),
        time=at(clock),
        arrived=at(clock),
        partition=key,
        **fields,
    )
    return delivered(event, leaf)


def upstream(
    clock: str, run_id: str, run: UpstreamRun | None, word: str = "succeeded", leaf: str = ""
) -> Delivery:
    """A run of program `r` that the job has collected."""
    event = Event(
        id=f"run:{run_id}:{word}",
        kind=EventKind.RUN,
        key=run_event_key("a", "r", word),
        time=at(clock),
        arrived=at(clock),
        run_id=run_id,
        status=word,
        run=run,
    )
    return delivered(event, leaf)


def delivered(event: Event, leaf: str = "") -> Delivery:
    """An event as the job holds it."""
    return Delivery(event=event, schedule="a/s", leaf=leaf, job="j", at=event.arrived)


Q = program_resource("a/q")
RUNS = ALL_RUNS
