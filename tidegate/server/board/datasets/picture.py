"""The place of each node in a picture of a graph: columns from left to right, with the flow.

A node is in the column behind the last of those that lead to it. What closes a circle leads back.
"""

from collections.abc import Iterable, Mapping

from tidegate.domain.value import Value
from tidegate.server.board.datasets.edges import Edge

COLUMN, ROW, WIDTH, HEIGHT = 340, 56, 180, 30
"""Distances and sizes of nodes, in pixels."""

LOWER = 8
"""How far a trigger is below the flow between the same nodes, in pixels."""

NODES_MAX = 200
"""A picture of more could not be read."""


class Node(Value, kw_only=True):
    """A node with the place of its upper left corner.

    Attributes:
        kind: dataset or program.
        name: "app/name".
    """

    kind: str
    name: str
    x: int
    y: int


class Line(Value, kw_only=True):
    """An edge with its path, as SVG writes it, and the place of its label."""

    edge: Edge
    path: str
    x: int
    y: int


class Drawn(Value, kw_only=True):
    """A picture; without nodes if there are too many."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    width: int
    height: int


def drawn(edges: Iterable[Edge]) -> Drawn:
    """Return the picture of a graph whose nodes are "dataset:app/name" and "program:app/name"."""
    found = sorted(set(edges), key=lambda edge: (edge.source, edge.target, edge.label))
    sources: dict[str, set[str]] = {}
    for edge in found:
        sources.setdefault(edge.source, set())
        sources.setdefault(edge.target, set()).add(edge.source)
    if not sources or len(sources) > NODES_MAX:
        return Drawn(nodes=(), lines=(), width=0, height=0)
    columns: dict[int, list[str]] = {}
    for name, column in sorted(_columns(sources).items()):
        columns.setdefault(column, []).append(name)
    nodes = {
        name: _node(name, column, row) for column, names in columns.items() for row, name in enumerate(names)
    }
    return Drawn(
        nodes=tuple(nodes.values()),
        lines=tuple(_line(edge, nodes[edge.source], nodes[edge.target]) for edge in found),
        width=(max(columns) + 1) * COLUMN,
        height=max(map(len, columns.values())) * ROW + 10,
    )


def _columns(sources: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return the column of each node, without recursion: chains may be long."""
    found: dict[str, int] = {}
    for start in sorted(sources):
        path = [start]
        while path:
            name = path[-1]
            open_ = [each for each in sorted(sources[name]) if each not in found and each not in path]
            if name not in found and open_:
                path.append(open_[0])
                continue
            found.setdefault(
                name, max((found[each] + 1 for each in sources[name] if each in found), default=0)
            )
            path.pop()
    return found


def _node(name: str, column: int, row: int) -> Node:
    kind, _, ref = name.partition(":")
    return Node(kind=kind, name=ref, x=column * COLUMN + 5, y=row * ROW + 10)


def _line(edge: Edge, source: Node, target: Node) -> Line:
    """Return an edge between two nodes; a trigger is drawn a little below the flow of rows."""
    lower = LOWER if edge.kind == "trigger" else 0
    x1, y1 = source.x + WIDTH, source.y + HEIGHT // 2 + lower
    x2, y2 = target.x, target.y + HEIGHT // 2 + lower
    if x2 <= source.x:
        x1, x2 = source.x + WIDTH // 2, target.x + WIDTH // 2
    middle = (x1 + x2) // 2
    path = f"M{x1},{y1} C{middle},{y1} {middle},{y2} {x2},{y2}"
    return Line(edge=edge, path=path, x=middle, y=(y1 + y2) // 2 + lower)
