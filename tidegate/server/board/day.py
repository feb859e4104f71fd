"""*Day*: the instances of cycle tasks by task and hour, their graph, and what there is to say of each.

The page of the board is also what `tidegate day --html` writes, as one file that needs no server.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from tidegate.domain.value import Value
from tidegate.listings.instances import TaskInstance
from tidegate.listings.queries.instances import public_instance
from tidegate.scheduler.explain.instances import day_matrix
from tidegate.scheduler.explain.instances.day_matrix import HOURS, Entry, Matrix, Sign, matrix_of, worst
from tidegate.scheduler.explain.instances.facts import no_edge_help, no_edge_line
from tidegate.scheduler.model.deployed import TASK_KIND
from tidegate.server.access import READ, Called
from tidegate.server.board.assets import STYLES, static_files
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.rendering import ENVIRONMENT, seen_from
from tidegate.server.deployed import deployed_app
from tidegate.server.problem import refused_as, unknown_value
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/board/day", route_class=PageRoute, include_in_schema=False)

DETAILED_MAX = 20
"""So many instances of a cell have their details in the page, the worst first."""

DETAILED_IN_ALL = 2_000
"""So many instances of all cells have them, but one of each cell."""

LISTED_MAX = 500
"""So many instances of a sign are listed."""

NODES_MAX = 4_000
"""Of more cells neither the graph nor the details are in the page."""

LEFT, TOP = 190, 34
COLUMN, LINE = 38, 44
RADIUS = 11


class Detail(Value, kw_only=True):
    """An instance.

    Attributes:
        upstream: each upstream instance with the rule that picked it, and what is wrong with a dependency.
    """

    instance: TaskInstance
    sign: Sign
    upstream: tuple[str, ...]


class Cell(Value, kw_only=True):
    """The instances of one task in one hour.

    Attributes:
        id: of the cell in the page.
        x: its place in the graph.
        sign: the worst of them.
        instances: how many there are.
        jobs: id and scheduled time of the first of them, as many as have details.
        details: of the worst ones; empty where the page has no graph.
        consumers: the cells with instances that wait for these, in words.
    """

    id: str
    x: int
    sign: Sign
    label: str
    instances: int
    jobs: tuple[tuple[str, str], ...]
    details: tuple[Detail, ...] = ()
    consumers: tuple[str, ...] = ()


class Row(Value, kw_only=True):
    """One task; `y` is its place in the graph."""

    task: str
    timezone: str
    status: str
    y: int
    cells: tuple[Cell | None, ...]


class Arrow(Value, kw_only=True):
    """An edge of the graph, from the cell of an upstream instance to that of its consumer."""

    source: str
    target: str
    path: str


class Counted(Value, kw_only=True):
    """How many instances show a sign."""

    sign: Sign
    label: str
    instances: int


class Day(Value, kw_only=True):
    """The page.

    Attributes:
        app: the only one whose tasks are shown; "" for all.
        sign: the one whose instances are listed; "" for none.
        listed: task, and id and scheduled time of the job, of the first of them.
        more: how many of them are not listed.
        nodes: how many cells have instances.
        drawn: whether the page has their graph and their details.
        edges_whole: false if only recorded edges are drawn.
    """

    day: date
    before: date
    after: date
    app: str
    counts: tuple[Counted, ...]
    rows: tuple[Row, ...]
    sign: str
    listed: tuple[tuple[str, str, str], ...]
    more: int
    nodes: int
    drawn: bool
    edges_whole: bool
    arrows: tuple[Arrow, ...]
    width: int
    height: int


@router.get("", dependencies=[READ])
def day_page(
    request: Request, service: Here, caller: Called, day: str = "", app: str = "", sign: str = ""
) -> Response:
    """Show the instances of a day, today's without one, and list those with a sign."""
    if sign not in ("", *Sign):
        raise unknown_value("sign", sign, Sign)
    now = service.clock()
    with service.store.reading() as reader, refused_as(400):
        apps = visible_apps(service, reader, caller)
        if app:
            caller.check_app(app)
            deployed_app(service, reader, app)
        tasks = reader.schedules(app=app or None, kind=TASK_KIND)
        states = [each for each in tasks if apps is None or each.app in apps]
        shown = day_matrix.day_of(day) if day else day_matrix.running_day(states, now)
        view = day_view(matrix_of(reader, states, shown, now, edges_of=NODES_MAX), app, sign)
    return page(request, service, "day", f"Day {shown.isoformat()}", view)


def day_file(matrix: Matrix, now: datetime) -> str:
    """Return the page as one file: style and script are inside, and its policy forbids every request."""
    content = static_files()
    style = "".join(content[name].decode() for name in STYLES if name != "fonts.css")
    file = {"style": Markup(style), "script": Markup(content["live.js"].decode())}
    with seen_from(now):
        return ENVIRONMENT.get_template("day.html").render(
            file=file, title=f"Day {matrix.day.isoformat()}", view=day_view(matrix), now=now, done=""
        )


def day_view(matrix: Matrix, app: str = "", sign: str = "") -> Day:
    """Return what the page shows."""
    nodes = _nodes(matrix)
    drawn = 0 < nodes <= NODES_MAX
    arrows = tuple(_arrows(matrix)) if drawn else ()
    names = {
        _id(number, hour): f"{row.task} {cell[0].instance.key}"
        for number, row in enumerate(matrix.rows)
        for hour, cell in row.cells.items()
    }
    consumers: dict[str, list[str]] = defaultdict(list)
    for arrow in arrows:
        consumers[arrow.source].append(names[arrow.target])
    of_sign = [
        (row.task, entry.job.id, entry.job.key)
        for row in matrix.rows
        for entry in row.entries
        if entry.sign == sign
    ]
    return Day(
        day=matrix.day,
        before=matrix.day - timedelta(days=1),
        after=matrix.day + timedelta(days=1),
        app=app,
        counts=tuple(
            Counted(sign=each, label=each.label, instances=number) for each, number in matrix.counts.items()
        ),
        rows=tuple(_rows(matrix, consumers, drawn=drawn)),
        sign=sign,
        listed=tuple(of_sign[:LISTED_MAX]),
        more=len(of_sign[LISTED_MAX:]),
        nodes=nodes,
        drawn=drawn,
        edges_whole=matrix.edges_whole,
        arrows=arrows,
        width=LEFT + HOURS * COLUMN + 16,
        height=TOP + len(matrix.rows) * LINE + 8,
    )


def _nodes(matrix: Matrix) -> int:
    return sum(len(row.cells) for row in matrix.rows)


def _rows(matrix: Matrix, consumers: Mapping[str, list[str]], *, drawn: bool) -> Iterator[Row]:
    most = max(1, min(DETAILED_MAX, DETAILED_IN_ALL // (_nodes(matrix) or 1)))
    for number, row in enumerate(matrix.rows):
        cells: list[Cell | None] = [None] * HOURS
        for hour, cell in row.cells.items():
            name = _id(number, hour)
            cells[hour] = Cell(
                id=name,
                x=_x(hour),
                sign=worst(cell),
                label=worst(cell).label,
                instances=len(cell),
                jobs=tuple((entry.job.id, entry.job.key) for entry in cell[:most]),
                details=tuple(_details(cell, most)) if drawn else (),
                consumers=tuple(consumers.get(name, ())),
            )
        yield Row(task=row.task, timezone=row.timezone, status=row.status, y=_y(number), cells=tuple(cells))


def _details(cell: Sequence[Entry], most: int) -> Iterator[Detail]:
    signs = list(Sign)
    ordered = sorted(cell, key=lambda entry: (signs.index(entry.sign), entry.instance.scheduled))
    for entry in ordered[:most]:
        edges = (f"{edge.task} {edge.key}, {edge.rule}" for edge in entry.upstream)
        wrong = (f"{no_edge_line(each)}; {no_edge_help(each, entry.job)}" for each in entry.diagnostics)
        yield Detail(
            instance=public_instance(entry.job, entry.since), sign=entry.sign, upstream=(*edges, *wrong)
        )


# --- graph: the rows of the matrix as layers, the hours from left to right -----------------


def _id(row: int, hour: int) -> str:
    return f"c{row}-{hour}"


def _x(hour: int) -> int:
    return LEFT + hour * COLUMN + COLUMN // 2


def _y(row: int) -> int:
    return TOP + row * LINE + LINE // 2


def _arrows(matrix: Matrix) -> Iterator[Arrow]:
    """Yield the edges between cells, each once."""
    at = {
        entry.job.id: (number, hour)
        for number, row in enumerate(matrix.rows)
        for hour, cell in row.cells.items()
        for entry in cell
    }
    found = {
        (at[edge.job], at[entry.job.id]): None
        for row in matrix.rows
        for entry in row.entries
        for edge in entry.upstream
        if edge.job in at and at[edge.job] != at[entry.job.id]
    }
    for source, target in found:
        yield Arrow(source=_id(*source), target=_id(*target), path=_path(source, target))


def _path(source: tuple[int, int], target: tuple[int, int]) -> str:
    """Return the line of an edge: what is downstream is below; along its row it is an arc above the nodes."""
    (row1, hour1), (row2, hour2) = source, target
    x1, y1, x2, y2 = _x(hour1), _y(row1), _x(hour2), _y(row2)
    if row1 == row2:
        return f"M{x1} {y1 - RADIUS} Q{(x1 + x2) // 2} {y1 - RADIUS - 10} {x2} {y2 - RADIUS}"
    down = 1 if row2 > row1 else -1
    begin, tip = y1 + down * RADIUS, y2 - down * RADIUS
    middle = (begin + tip) // 2
    return f"M{x1} {begin} C{x1} {middle} {x2} {middle} {x2} {tip}"
