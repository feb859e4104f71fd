"""The graph of a day's instances as SVG: the rows of the matrix as layers, the hours from left to right.

A node is a cell of the matrix, an edge leads from an upstream instance to its consumer. What is downstream is
below, so edges lead downwards; those of `self` run along their row.
"""

from collections.abc import Iterator
from html import escape

from tidegate.scheduler.explain.instances.day_matrix import HOURS, Matrix, Row, worst

LEFT, TOP = 190, 34
COLUMN, LINE = 38, 44
RADIUS = 11

NAME_CHARACTERS = 26

NODES_MAX = 4_000
"""A larger graph is left out of the page."""


def node_id(row: int, hour: int) -> str:
    """Return the name of a cell in the page."""
    return f"c{row}-{hour}"


def graph_edges(matrix: Matrix) -> list[tuple[str, str]]:
    """Return the edges between cells, each once, from the upstream cell to that of its consumer."""
    at = {
        entry.job.id: node_id(number, hour)
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
    return list(found)


def svg(matrix: Matrix) -> str:
    """Return the graph."""
    width, height = LEFT + HOURS * COLUMN + 16, TOP + len(matrix.rows) * LINE + 8
    places = {
        node_id(number, hour): (_x(hour), _y(number))
        for number, row in enumerate(matrix.rows)
        for hour in row.cells
    }
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        'aria-label="graph of instances">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
        'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
        *(f'<text class="hour" x="{_x(hour)}" y="18">{hour}</text>' for hour in range(HOURS)),
        *(
            _edge(from_, to, places[from_], places[to])
            for from_, to in graph_edges(matrix)
            if from_ in places and to in places
        ),
    ]
    for number, row in enumerate(matrix.rows):
        parts += _nodes(number, row)
    return "\n".join([*parts, "</svg>"])


def _x(hour: int) -> int:
    return LEFT + hour * COLUMN + COLUMN // 2


def _y(row: int) -> int:
    return TOP + row * LINE + LINE // 2


def _edge(from_: str, to: str, start: tuple[int, int], end: tuple[int, int]) -> str:
    (x1, y1), (x2, y2) = start, end
    if y1 == y2:
        # Along its row an edge is an arc above the nodes.
        bend = y1 - RADIUS - 10
        path = f"M{x1} {y1 - RADIUS} Q{(x1 + x2) // 2} {bend} {x2} {y2 - RADIUS}"
    else:
        down = 1 if y2 > y1 else -1
        begin, tip = y1 + down * RADIUS, y2 - down * RADIUS
        middle = (begin + tip) // 2
        path = f"M{x1} {begin} C{x1} {middle} {x2} {middle} {x2} {tip}"
    return f'<path class="edge" data-from="{from_}" data-to="{to}" d="{path}" marker-end="url(#tip)"/>'


def _nodes(number: int, row: Row) -> Iterator[str]:
    name = row.task if len(row.task) <= NAME_CHARACTERS else row.task[: NAME_CHARACTERS - 1] + "…"
    title = f"<title>{escape(row.task)}</title>"
    yield f'<text class="task" x="4" y="{_y(number) + 4}">{escape(name)}{title}</text>'
    for hour, cell in sorted(row.cells.items()):
        sign, x, y = worst(cell), _x(hour), _y(number)
        label = escape(f"{row.task} {cell[0].instance.key}: {sign.label}")
        yield (
            f'<g class="node s-{sign}" data-cell="{node_id(number, hour)}" tabindex="0" role="button" '
            f'aria-label="{label}"><title>{label}</title>'
            f'<circle cx="{x}" cy="{y}" r="{RADIUS}"/><text x="{x}" y="{y + 4}">{sign}</text></g>'
        )
