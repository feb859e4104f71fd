"""*Maintenance*: one table with its files over time and its operations; the list is `listings.tables`."""

from collections.abc import Sequence
from datetime import datetime

from fastapi import APIRouter, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.queries.tables import public_table
from tidegate.listings.tables import MaintainedTable
from tidegate.scheduler.explain.measured import measured
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.tick.maintenance.policies import load_policies
from tidegate.server.access import READ, Called
from tidegate.server.board.actions import Offered, offered
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.subjects import of_table
from tidegate.server.service import Here
from tidegate.server.tables import table_named

router = APIRouter(prefix="/board/maintenance", route_class=PageRoute, include_in_schema=False)

RUNS_SHOWN = 50
FILES = "files"
"""The measure of the chart."""

WIDTH, HEIGHT = 600, 100
"""Of the chart, in pixels."""


class Point(Value, kw_only=True):
    """The number of a table's data files at an instant, with its place in the chart."""

    at: datetime
    files: int
    x: int
    y: int


class Shown(Value, kw_only=True):
    """One table.

    Attributes:
        menu: what can be done to it.
        points: its files before and after each of the newest runs, the oldest first.
    """

    name: str
    table: MaintainedTable
    operations: tuple[OperationStatus, ...]
    runs: tuple[OperationRun, ...]
    menu: tuple[Offered, ...]
    points: tuple[Point, ...]


@router.get("/table", dependencies=[READ])
def show_page(name: str, request: Request, service: Here, caller: Called) -> Response:
    """Show a table."""
    now = service.clock()
    with service.store.reading() as reader:
        table = table_named(service, reader, caller, name)
        policies = load_policies(reader, now)
        runs = reader.operation_runs(tables=(table.name,), limit=RUNS_SHOWN)
        view = Shown(
            name=table.name,
            table=public_table(measured(policies, table, now)),
            operations=operation_status(reader, table, policies, now),
            runs=runs[::-1],
            menu=offered(of_table(table), reader, now, caller),
            points=points(runs),
        )
    return page(request, service, "table", table.name, view)


def points(runs: Sequence[OperationRun]) -> tuple[Point, ...]:
    """Return the chart of what runs have measured: the number of data files before and after each."""
    found: list[tuple[datetime, int]] = []
    for run in runs:
        for at, values in ((run.started_at, run.before), (run.ended_at, run.after)):
            if at is not None and FILES in values:
                found.append((at, int(values[FILES])))
    if not found:
        return ()
    first, last = found[0][0], max(at for at, _ in found)
    length, most = max((last - first).total_seconds(), 1.0), max(max(files for _, files in found), 1)
    return tuple(
        Point(
            at=at,
            files=files,
            x=round((at - first).total_seconds() / length * WIDTH),
            y=round(HEIGHT * (1 - files / most)),
        )
        for at, files in sorted(found)
    )
