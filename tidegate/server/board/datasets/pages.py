"""*Datasets*: the datasets of an app with their graph, and one with its partitions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tidegate.domain.model import Dataset
from tidegate.domain.value import Value
from tidegate.listings.late import Late
from tidegate.listings.queries.late import lateness
from tidegate.scheduler.decision.deadlines import deadline_of_dataset
from tidegate.scheduler.store.answers import WHOLE
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import READ, Called
from tidegate.server.board.datasets.dates import Calendar, Wanted, dated
from tidegate.server.board.datasets.edges import Edge, flows, triggers
from tidegate.server.board.datasets.partitions import Listed as Partitions
from tidegate.server.board.datasets.partitions import listed
from tidegate.server.board.datasets.picture import Drawn, drawn
from tidegate.server.board.page import PageRoute, page
from tidegate.server.deployed import check_name, deployed_app, own_apps
from tidegate.server.problem import Problem
from tidegate.server.service import Here

router = APIRouter(prefix="/board/datasets", route_class=PageRoute, include_in_schema=False)

LATE_READ = 100
"""The newest late periods of a dataset."""

ROWS_MAX = 10_000_000
"""More partitions than a page of any calendar has."""

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
        triggers: what starts the programs of the app.
        whole: whether the triggers of all schedules are in the graph.
    """

    apps: tuple[str, ...]
    app: str | None
    datasets: tuple[Known, ...]
    graph: Drawn | None
    triggers: tuple[Edge, ...]
    whole: bool


class Shown(Value, kw_only=True):
    """One dataset.

    Attributes:
        deadline: as people read it; "" without one.
        late: the periods that were late, the newest deadline first.
        calendar: None where its partitions have no dates, or before anything is known of one.
    """

    name: str
    dataset: Dataset
    deadline: str
    late: tuple[Late, ...]
    calendar: Calendar | None
    partitions: Partitions


@router.get("", dependencies=[READ])
def list_page(request: Request, service: Here, caller: Called, app: str = "") -> Response:
    """Show the datasets and programs of an app, with what triggers what."""
    with service.store.reading() as reader:
        apps = tuple(sorted(each for each in own_apps(service, reader) if caller.sees(each)))
        chosen = app or (apps[0] if apps else None)
        datasets: tuple[Known, ...] = ()
        graph, starts, whole = None, list[Edge](), True
        if chosen is not None:
            caller.check_app(chosen)
            deployed = deployed_app(service, reader, chosen)
            states = reader.schedules(app=chosen, limit=SCHEDULES_READ + 1)
            whole = len(states) <= SCHEDULES_READ
            reads, writes = flows(deployed.app.programs.values(), chosen)
            starts = triggers(states[:SCHEDULES_READ])
            graph = drawn([*reads, *writes, *starts])
            datasets = tuple(_known(each, chosen, reads, writes) for each in deployed.app.datasets.values())
    view = Listed(apps=apps, app=chosen, datasets=datasets, graph=graph, triggers=tuple(starts), whole=whole)
    return page(request, service, "datasets", "Datasets", view)


@router.get("/{app}/{name}", dependencies=[READ])
def show_page(
    app: str,
    name: str,
    request: Request,
    service: Here,
    until: str = "",
    period: str = "",
    row: Annotated[int, Query(ge=0, le=ROWS_MAX)] = 0,
) -> Response:
    """Show the partitions of a dataset.

    Args:
        until: the last year, month, day or hour of the calendar.
        period: the cell of the calendar whose partitions are listed.
        row: place of the first partition that is listed.
    """
    check_name(name)
    whole, wanted = f"{app}/{name}", Wanted(until=until, period=period, row=row)
    with service.store.reading() as reader:
        deployed = deployed_app(service, reader, app).app
        dataset = deployed.datasets.get(name)
        if dataset is None:
            raise Problem(404, f'app {app} has no dataset "{name}"')
        late = lateness(reader, LATE_READ, dataset=whole, now=False)
        calendar, partitions = _partitions(reader, whole, dataset, wanted, service.clock())
    deadline = ""
    if dataset.deadline is not None:
        deadline = deadline_of_dataset(dataset.deadline, periods=dataset.partitions is not None)
    view = Shown(
        name=whole, dataset=dataset, deadline=deadline, late=late, calendar=calendar, partitions=partitions
    )
    return page(request, service, "dataset", whole, view, deployed.timezone)


def _partitions(
    reader: ListingReader, name: str, dataset: Dataset, wanted: Wanted, now: datetime
) -> tuple[Calendar | None, Partitions]:
    scheme = dataset.partitions
    if scheme is not None and scheme.time is not None:
        return dated(reader, name, dataset, wanted, now)
    keys = scheme.static.keys if scheme is not None and scheme.static is not None else (WHOLE,)
    states = {each.key: each for each in reader.partition_states(name, keys)}
    return None, listed(reader, name, keys, states, wanted.row, missing=scheme is not None)


def _known(dataset: Dataset, app: str, reads: Sequence[Edge], writes: Sequence[Edge]) -> Known:
    own, scheme = f"dataset:{app}/{dataset.name}", dataset.partitions
    return Known(
        name=f"{app}/{dataset.name}",
        format=dataset.format,
        partitions="none" if scheme is None else " and ".join(scheme.dimension_names()),
        written_by=tuple(edge.source.partition(":")[2] for edge in writes if edge.target == own),
        read_by=tuple(edge.target.partition(":")[2] for edge in reads if edge.source == own),
    )
