"""The matrix of a day: a row for each task, a cell for each hour of its zone, by scheduled time.

Rows are ordered so that upstream tasks are above their consumers. A cell shows the worst of its instances.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum

from tidegate.domain.error import UserError
from tidegate.domain.model import TaskTrigger
from tidegate.domain.part_name import app_of, whole_name
from tidegate.domain.tasks.grid import day_begins
from tidegate.domain.tasks.key import TaskKeyError, local_day, parse_date
from tidegate.domain.time.wall_clock import wall_time
from tidegate.domain.value import Value
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.upstream import Upstream, diagnostics_of, edges_of
from tidegate.scheduler.explain.instances.awaited import is_recorded, status_since, upstream_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Diagnostic, Edge, Instance, Status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.upstream import MICROSECOND

HOURS = 24

ONE_DAY = timedelta(days=1)

LOOKED_UP_MAX = 5_000
"""So many instances that are Not Run look up their upstream instances; with more, only recorded ones show."""


class Sign(StrEnum):
    """What a cell shows, the worst first; the value is its letter."""

    FAILED = "F"
    PAUSED = "P"
    RUNNING = "R"
    WAITING = "W"
    NOT_RUN = "N"
    MARKED = "M"
    SUCCESSFUL = "S"
    EMPTY = "E"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Sign.FAILED: "failed",
    Sign.PAUSED: "paused",
    Sign.RUNNING: "running",
    Sign.WAITING: "waiting",
    Sign.NOT_RUN: "not run",
    Sign.MARKED: "marked successful",
    Sign.SUCCESSFUL: "successful",
    Sign.EMPTY: "empty run",
}

_SIGNS = {
    Status.NOT_RUN: Sign.NOT_RUN,
    Status.WAITING: Sign.WAITING,
    Status.RUNNING: Sign.RUNNING,
    Status.FAILED: Sign.FAILED,
    Status.PAUSED: Sign.PAUSED,
}


class Entry(Value, kw_only=True):
    """One instance of the day.

    Attributes:
        since: when its status became what it is.
        upstream: its upstream instances, recorded or as they would be now.
        diagnostics: its dependencies without one; the recorded ones also where edges are not wanted.
    """

    job: Job
    instance: Instance
    sign: Sign
    since: datetime | None
    upstream: tuple[Edge, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class Row(Value, kw_only=True):
    """One task of the day.

    Attributes:
        task: "app/name".
        layer: 0 for a task without upstream tasks, else one more than that of the highest of them.
        cells: its instances by hour, each in the order of their scheduled times.
    """

    task: str
    cycle: str
    timezone: str
    layer: int
    status: str
    cells: dict[int, tuple[Entry, ...]]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(entry for _, cell in sorted(self.cells.items()) for entry in cell)


class Matrix(Value, kw_only=True):
    """The tasks of a day that have instances. `edges_whole` is false if some edges are left out."""

    day: date
    rows: tuple[Row, ...]
    edges_whole: bool = True

    @property
    def counts(self) -> dict[Sign, int]:
        """The number of instances by what they show, without zeros."""
        found = dict.fromkeys(Sign, 0)
        for row in self.rows:
            for entry in row.entries:
                found[entry.sign] += 1
        return {sign: number for sign, number in found.items() if number}


def matrix_of(
    reader: EngineReader, states: Sequence[ScheduleState], day: date, now: datetime, *, edges_of: int
) -> Matrix:
    """Return the matrix of a day.

    Args:
        edges_of: with more cells that have instances, their upstream instances are not wanted.
    """
    tasks = {state.ref: state.spec.task for state in states if state.spec.task is not None}
    jobs = [job for span in spans_of_day(tasks, day, now) for job in reader.instances(*span)]
    hours = [wall_time(job.of_task.scheduled, tasks[job.schedule].timezone).hour for job in jobs]
    edges = len({(job.schedule, hour) for job, hour in zip(jobs, hours, strict=True)}) <= edges_of
    whole = sum(not is_recorded(job) for job in jobs) <= LOOKED_UP_MAX
    upstream = upstream_of(reader, [job for job in jobs if edges and (whole or is_recorded(job))])
    cells: dict[str, dict[int, list[Entry]]] = {}
    for job, hour in zip(jobs, hours, strict=True):
        entry = _entry(reader, job, job.of_task, upstream.get(job.id, ()))
        cells.setdefault(job.schedule, {}).setdefault(hour, []).append(entry)
    layers = _layers({state.ref: state for state in states}, tasks)
    rows = [
        Row(
            task=state.ref,
            cycle=tasks[state.ref].cycle,
            timezone=tasks[state.ref].timezone,
            layer=layers[state.ref],
            status=state.status,
            cells={hour: tuple(found) for hour, found in cells[state.ref].items()},
        )
        for state in states
        if state.ref in cells
    ]
    ordered = sorted(rows, key=lambda row: (app_of(row.task), row.layer, row.task))
    return Matrix(day=day, rows=tuple(ordered), edges_whole=whole)


def _entry(reader: EngineReader, job: Job, instance: Instance, upstream: tuple[Upstream, ...]) -> Entry:
    return Entry(
        job=job,
        instance=instance,
        sign=sign_of(job, instance),
        since=status_since(reader, job),
        upstream=edges_of(upstream),
        diagnostics=diagnostics_of(upstream) or instance.diagnostics,
    )


def sign_of(job: Job, instance: Instance) -> Sign:
    """Return what a cell shows of an instance."""
    if instance.empty:
        return Sign.EMPTY
    status = status_of(job)
    if status is Status.SUCCESSFUL:
        return Sign.MARKED if instance.marked else Sign.SUCCESSFUL
    return _SIGNS[status]


def worst(cell: Sequence[Entry]) -> Sign:
    """Return what a cell shows: the worst of its instances."""
    signs = list(Sign)
    return min((entry.sign for entry in cell), key=signs.index)


def running_day(states: Sequence[ScheduleState], now: datetime) -> date:
    """Return the day that runs in the zone of the first task."""
    task = next((state.spec.task for state in states if state.spec.task is not None), None)
    return now.date() if task is None else local_day(task, now)


def day_of(text: str) -> date:
    """Return the day of an option.

    Raises:
        UserError: the text is not a date.
    """
    try:
        return parse_date(text)
    except TaskKeyError as error:
        raise UserError(str(error), "a day is written YYYY-MM-DD") from error


def spans_of_day(
    tasks: Mapping[str, TaskTrigger], day: date | None, now: datetime
) -> Iterator[tuple[list[str], datetime, datetime]]:
    """Yield the tasks of each zone, and the first and the last instant of a local day; None: what runs."""
    zones: dict[str, list[str]] = defaultdict(list)
    for ref, task in tasks.items():
        zones[task.timezone].append(ref)
    for refs in zones.values():
        task = tasks[refs[0]]
        on = day or local_day(task, now)
        yield refs, day_begins(task, on), day_begins(task, on + ONE_DAY) - MICROSECOND


def _layers(states: Mapping[str, ScheduleState], tasks: Mapping[str, TaskTrigger]) -> dict[str, int]:
    """Return the layer of each task; upstream tasks that are not shown count as none."""
    above = {
        ref: [
            name
            for each in task.depends_on
            if not each.itself and (name := whole_name(states[ref].app, each.task)) in tasks
        ]
        for ref, task in tasks.items()
    }
    layers = dict.fromkeys(tasks, 0)
    for _ in tasks:
        moved = False
        for ref, names in above.items():
            layer = max((layers[name] + 1 for name in names), default=0)
            if layer > layers[ref]:
                layers[ref], moved = layer, True
        if not moved:
            break
    return layers
