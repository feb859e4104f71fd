"""*Day*: the instances of cycle tasks by task and hour, as `tidegate day`."""

from datetime import date, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response

from tidegate.domain.value import Value
from tidegate.scheduler.explain.instances.day_matrix import (
    HOURS,
    Matrix,
    Sign,
    day_of,
    matrix_of,
    running_day,
    worst,
)
from tidegate.scheduler.model.deployed import TASK_KIND
from tidegate.server.access import READ, Called
from tidegate.server.board.page import PageRoute, page
from tidegate.server.problem import refused_as, unknown_value
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/board/day", route_class=PageRoute, include_in_schema=False)


class Cell(Value, kw_only=True):
    """The instances of one task in one hour.

    Attributes:
        sign: the worst of them.
        jobs: id and scheduled time of each.
    """

    sign: Sign
    label: str
    jobs: tuple[tuple[str, str], ...]


class Row(Value, kw_only=True):
    """One task."""

    task: str
    timezone: str
    status: str
    cells: tuple[Cell | None, ...]


class Counted(Value, kw_only=True):
    """How many instances show a sign."""

    sign: Sign
    label: str
    instances: int


class Day(Value, kw_only=True):
    """The page.

    Attributes:
        sign: the one whose instances are listed; "" for none.
        listed: task, and id and scheduled time of the job, of each of them.
    """

    day: date
    before: date
    after: date
    counts: tuple[Counted, ...]
    rows: tuple[Row, ...]
    sign: str
    listed: tuple[tuple[str, str, str], ...]


@router.get("", dependencies=[READ])
def day_page(request: Request, service: Here, caller: Called, day: str = "", sign: str = "") -> Response:
    """Show the instances of a day, today's without one, and list those with a sign."""
    if sign not in ("", *Sign):
        raise unknown_value("sign", sign, Sign)
    now = service.clock()
    with service.store.reading() as reader, refused_as(400):
        apps = visible_apps(service, reader, caller)
        tasks = reader.schedules(kind=TASK_KIND)
        states = [each for each in tasks if apps is None or each.app in apps]
        shown = day_of(day) if day else running_day(states, now)
        matrix = matrix_of(reader, states, shown, now, edges=False)
    view = Day(
        day=shown,
        before=shown - timedelta(days=1),
        after=shown + timedelta(days=1),
        counts=tuple(
            Counted(sign=each, label=each.label, instances=number) for each, number in matrix.counts.items()
        ),
        rows=tuple(_rows(matrix)),
        sign=sign,
        listed=tuple(
            (row.task, entry.job.id, entry.job.key)
            for row in matrix.rows
            for entry in row.entries
            if entry.sign == sign
        ),
    )
    return page(request, service, "day", f"Day {shown.isoformat()}", view)


def _rows(matrix: Matrix) -> Any:
    for row in matrix.rows:
        cells = (row.cells.get(hour, ()) for hour in range(HOURS))
        yield Row(
            task=row.task,
            timezone=row.timezone,
            status=row.status,
            cells=tuple(
                Cell(
                    sign=worst(cell),
                    label=worst(cell).label,
                    jobs=tuple((entry.job.id, entry.job.key) for entry in cell),
                )
                if cell
                else None
                for cell in cells
            ),
        )
