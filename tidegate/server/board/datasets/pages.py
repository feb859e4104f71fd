"""*Datasets*: the graph of all datasets, and one dataset with its partitions."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tidegate.domain.model import Dataset
from tidegate.domain.part_name import app_of
from tidegate.domain.sql.column import Writer
from tidegate.domain.sql.lineage import Lineage
from tidegate.domain.value import Value
from tidegate.domain.withheld import WithheldOutput, WithheldPartition
from tidegate.listings.late import Late
from tidegate.listings.queries.late import lateness
from tidegate.scheduler.decision.deadlines import deadline_of_dataset
from tidegate.scheduler.explain.withheld import outputs_of_dataset, withheld_of
from tidegate.scheduler.store.answers import WHOLE
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import READ, Called
from tidegate.server.board.datasets.dates import Calendar, Wanted, dated
from tidegate.server.board.datasets.graph import Asked, DatasetCard, read_graph
from tidegate.server.board.datasets.partitions import Listed as Partitions
from tidegate.server.board.datasets.partitions import listed
from tidegate.server.board.page import PageRoute, page
from tidegate.server.deployed import check_name, deployed_app, deployed_apps
from tidegate.server.problem import Problem
from tidegate.server.service import Here

router = APIRouter(prefix="/board/datasets", route_class=PageRoute, include_in_schema=False)

LATE_READ = 100
"""The newest late periods of a dataset."""

ROWS_MAX = 10_000_000
"""More partitions than a page of any calendar has."""


class Shown(Value, kw_only=True):
    """One dataset.

    Attributes:
        card: its state, and what writes and reads it, as the graph has it.
        deadline: as people read it; "" without one.
        late: the periods that were late, the newest deadline first.
        columns: of its writers that are SQL programs: where each of the columns comes from.
        linked: the datasets that these come from, of the apps that the caller sees.
        withheld: what `checks: passed` does not count yet, what waits longest first.
        publishes: into it, which failed checks withhold, the oldest first.
        calendar: None where its partitions have no dates, or before anything is known of one.
    """

    name: str
    dataset: Dataset
    card: DatasetCard
    deadline: str
    late: tuple[Late, ...]
    columns: tuple[Writer, ...]
    linked: tuple[str, ...]
    withheld: tuple[WithheldPartition, ...]
    publishes: tuple[WithheldOutput, ...]
    calendar: Calendar | None
    partitions: Partitions


@router.get("", dependencies=[READ])
def list_page(
    request: Request,
    service: Here,
    caller: Called,
    app: Annotated[tuple[str, ...], Query()] = (),
    q: str = "",
    at: str = "",
    after: str = "",
) -> Response:
    """Show the datasets of all apps, the state of each, and what leads from one to another.

    Args:
        app: the apps whose datasets are shown; the others are one card each.
        q: what the names of the datasets contain.
        at: the dataset whose lineage the script lights, "app/name"; its app is open.
        after: the dataset behind which the page begins.
    """
    asked = Asked(apps=tuple(name for name in app if name), first=app_of(at), search=q, after=after)
    named = {name for name in (*asked.apps, asked.first) if name}
    for name in sorted(named):
        caller.check_app(name)
    with service.store.reading() as reader:
        deployed = [each for each in deployed_apps(service, reader) if caller.sees(each.name)]
        unknown = named - {each.name for each in deployed}
        if unknown:
            raise Problem(404, f'there is no app "{min(unknown):.100}"')
        view = read_graph(reader, deployed, asked, service.clock())
    return page(request, service, "datasets", "Datasets", view)


@router.get("/{app}/{name}", dependencies=[READ])
def show_page(
    app: str,
    name: str,
    request: Request,
    service: Here,
    caller: Called,
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
        apps = [each for each in deployed_apps(service, reader) if caller.sees(each.name)]
        graph = read_graph(reader, apps, Asked(apps=(app,), only=whole), service.clock())
        # A query of an app that the caller does not see tells nothing of its columns.
        lineage = Lineage({each.name: each.app for each in apps})
        writers = tuple(writer for writer in lineage.writers(whole) if writer.columns)
        late = lateness(reader, LATE_READ, dataset=whole, now=False)
        withheld = withheld_of(reader, whole) if dataset.asset else ()
        publishes = outputs_of_dataset(reader, whole)
        calendar, partitions = _partitions(reader, whole, dataset, wanted, service.clock())
    deadline = ""
    if dataset.deadline is not None:
        deadline = deadline_of_dataset(dataset.deadline, periods=dataset.partitions is not None)
    view = Shown(
        name=whole,
        dataset=dataset,
        card=graph.datasets[0],
        deadline=deadline,
        late=late,
        columns=writers,
        linked=tuple(sorted(lineage.datasets & {each for writer in writers for each in writer.datasets()})),
        withheld=withheld,
        publishes=publishes,
        calendar=calendar,
        partitions=partitions,
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
