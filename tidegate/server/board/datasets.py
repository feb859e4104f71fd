"""*Datasets*: the graph of datasets and programs of an app, and the partitions of one dataset as a calendar.

A partition is landed once it was reported, published once a run of ours wrote it, and consumed or failed by
the newest job that took its newest event.
"""

from calendar import Calendar
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from fastapi import APIRouter, Request, Response

from tidegate.domain.model import Dataset, Program
from tidegate.domain.model.triggers.tree import leaves
from tidegate.domain.part_name import whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.pages import SchedulesWanted
from tidegate.scheduler.store.protocol import Reader
from tidegate.server.access import READ, Called
from tidegate.server.board.graph import Drawn, Edge, drawn
from tidegate.server.board.page import PageRoute, page
from tidegate.server.deployed import check_name, deployed_app, deployed_apps
from tidegate.server.problem import Problem
from tidegate.server.service import Here

router = APIRouter(prefix="/board/datasets", route_class=PageRoute, include_in_schema=False)

EVENTS_READ = 2000
"""The newest events of a dataset, of which its partitions are shown."""

MONTHS_MAX = 24

SCHEDULES_READ = 500
"""Schedules of one app whose triggers are in the graph."""


class Known(Value, kw_only=True):
    """A dataset in the list."""

    name: str
    format: str
    partitions: str
    written_by: tuple[str, ...]
    read_by: tuple[str, ...]


class Listed(Value, kw_only=True):
    """The datasets of an app with their graph.

    Attributes:
        whole: whether the triggers of all schedules are in the graph.
    """

    apps: tuple[str, ...]
    app: str | None
    datasets: tuple[Known, ...]
    graph: Drawn | None
    whole: bool


class Part(Value, kw_only=True):
    """A partition of a dataset.

    Attributes:
        status: landed, published, consumed or failed.
        at: when its newest event arrived.
        jobs: what has taken its newest event.
    """

    key: str
    status: str
    at: datetime
    rows: int | None
    bytes: int | None
    reports: int
    jobs: tuple[Job, ...]


class Day(Value, kw_only=True):
    """A day of a dataset with daily partitions.

    Attributes:
        late: it is over, later than the first partition, and has none.
    """

    date: date
    part: Part | None
    late: bool


class Month(Value, kw_only=True):
    """A month of a dataset with daily partitions: weeks from Monday, None for days outside of it."""

    name: str
    weeks: tuple[tuple[Day | None, ...], ...]


class Shown(Value, kw_only=True):
    """One dataset.

    Attributes:
        months: the newest first; none where its partitions are not days.
        whole: whether all its events were read.
    """

    name: str
    dataset: Dataset
    parts: tuple[Part, ...]
    months: tuple[Month, ...]
    whole: bool


@router.get("", dependencies=[READ])
def list_page(request: Request, service: Here, caller: Called, app: str = "") -> Response:
    """Show the datasets and programs of an app, with what triggers what."""
    with service.store.reading() as reader:
        apps = tuple(each.name for each in deployed_apps(service, reader) if caller.sees(each.name))
        chosen = app or (apps[0] if apps else None)
        datasets: tuple[Known, ...] = ()
        graph, whole = None, True
        if chosen is not None:
            caller.check_app(chosen)
            deployed = deployed_app(service, reader, chosen)
            states = reader.schedules_page(SchedulesWanted(app=chosen), SCHEDULES_READ + 1)
            whole = len(states) <= SCHEDULES_READ
            reads, writes = _flows(deployed.app.programs.values(), chosen)
            triggers = [edge for state in states[:SCHEDULES_READ] for edge in _triggers(state)]
            graph = drawn([*reads, *writes, *triggers])
            datasets = tuple(_known(each, chosen, reads, writes) for each in deployed.app.datasets.values())
    view = Listed(apps=apps, app=chosen, datasets=datasets, graph=graph, whole=whole)
    return page(request, service, "datasets", "Datasets", view)


@router.get("/{app}/{name}", dependencies=[READ])
def show_page(app: str, name: str, request: Request, service: Here) -> Response:
    """Show the partitions of a dataset."""
    check_name(name)
    now = service.clock()
    with service.store.reading() as reader:
        dataset = deployed_app(service, reader, app).app.datasets.get(name)
        if dataset is None:
            raise Problem(404, f'app {app} has no dataset "{name}"')
        key = partition_event_key(app, name)
        events = [each for each in reader.events(key_prefix=key, limit=EVENTS_READ) if each.key == key]
        parts = _parts(reader, events)
    view = Shown(
        name=f"{app}/{name}",
        dataset=dataset,
        parts=parts,
        months=months(parts, now.date()) if _daily(dataset) else (),
        whole=len(events) < EVENTS_READ,
    )
    return page(request, service, "dataset", f"{app}/{name}", view)


# --- the graph --------------------------------------------------------------------------


def _flows(programs: Iterable[Program], app: str) -> tuple[list[Edge], list[Edge]]:
    """Return the edges of what programs read, and of what they write."""
    reads, writes = [], []
    for program in programs:
        own = f"program:{app}/{program.name}"
        reads += [
            Edge(source=f"dataset:{whole_name(app, each)}", target=own, label="reads")
            for each in program.reads
        ]
        writes += [
            Edge(source=own, target=f"dataset:{whole_name(app, each)}", label="writes")
            for each in program.writes
        ]
    return reads, writes


def _triggers(state: ScheduleState) -> Iterable[Edge]:
    """Yield the edges of what starts the program of a schedule."""
    target = f"program:{state.app}/{state.spec.program}"
    for leaf in leaves(state.spec.trigger):
        dataset, runs = leaf.trigger.dataset_heard, leaf.trigger.runs_heard(state.spec.program)
        label = f"{state.name}: {leaf.trigger.one_line()}"
        if dataset is not None and state.spec.program:
            source = f"dataset:{whole_name(state.app, dataset)}"
            yield Edge(source=source, target=target, label=label, kind="trigger")
        if runs is not None and state.spec.program and whole_name(state.app, runs[0]) != target[8:]:
            source = f"program:{whole_name(state.app, runs[0])}"
            yield Edge(source=source, target=target, label=label, kind="trigger")


def _known(dataset: Dataset, app: str, reads: Sequence[Edge], writes: Sequence[Edge]) -> Known:
    own, scheme = f"dataset:{app}/{dataset.name}", dataset.partitions
    return Known(
        name=f"{app}/{dataset.name}",
        format=dataset.format,
        partitions="none" if scheme is None else " and ".join(scheme.dimension_names()),
        written_by=tuple(edge.source.partition(":")[2] for edge in writes if edge.target == own),
        read_by=tuple(edge.target.partition(":")[2] for edge in reads if edge.source == own),
    )


# --- the partitions ---------------------------------------------------------------------


def _parts(reader: Reader, events: Sequence[Event]) -> tuple[Part, ...]:
    """Return the partitions of some events, the newest of each first."""
    newest: dict[str, Event] = {}
    reports: dict[str, int] = {}
    for event in events:
        newest.setdefault(event.partition or "", event)
        reports[event.partition or ""] = reports.get(event.partition or "", 0) + 1
    taken: dict[str, list[str]] = {}
    for delivery in reader.deliveries_of_events([event.id for event in newest.values()]):
        if delivery.job is not None and delivery.reason is None:
            taken.setdefault(delivery.event.id, []).append(delivery.job)
    jobs = {job.id: job for job in reader.jobs(ids={id_ for ids in taken.values() for id_ in ids})}
    return tuple(
        _part(
            key,
            newest[key],
            reports[key],
            [jobs[id_] for id_ in taken.get(newest[key].id, ()) if id_ in jobs],
        )
        for key in sorted(newest, reverse=True)
    )


def _part(key: str, event: Event, reports: int, jobs: Sequence[Job]) -> Part:
    states = {job.state for job in jobs}
    if JobState.FAILED in states:
        status = "failed"
    elif JobState.SUCCEEDED in states:
        status = "consumed"
    else:
        status = "landed" if event.run_id is None else "published"
    different = {job.id: job for job in jobs}
    return Part(
        key=key,
        status=status,
        at=event.arrived,
        rows=event.rows,
        bytes=event.bytes,
        reports=reports,
        jobs=tuple(different.values()),
    )


def _daily(dataset: Dataset) -> bool:
    scheme = dataset.partitions
    return (
        scheme is not None
        and scheme.static is None
        and scheme.time is not None
        and scheme.time.cycle == "day"
    )


def months(parts: Sequence[Part], today: date) -> tuple[Month, ...]:
    """Return the months of daily partitions from the first to the last or to yesterday, the newest first."""
    days = {date.fromisoformat(part.key): part for part in parts}
    if not days:
        return ()
    first, last = min(days), max(max(days), today - timedelta(days=1))
    found: list[Month] = []
    year, month = last.year, last.month
    while (year, month) >= (first.year, first.month) and len(found) < MONTHS_MAX:
        weeks = tuple(
            tuple(
                Day(date=day, part=days.get(day), late=day not in days and first <= day < today)
                if day.month == month
                else None
                for day in week
            )
            for week in Calendar().monthdatescalendar(year, month)
        )
        found.append(Month(name=f"{year}-{month:02}", weeks=weeks))
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return tuple(found)
