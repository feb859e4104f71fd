"""The place of each node in a picture of a graph: columns from left to right, with the flow.

A node is in the column behind the last of those that lead to it. What closes a circle leads back.
"""

from collections.abc import Iterable, Mapping

from tidegate.domain.value import Value

COLUMN, ROW, WIDTH, HEIGHT = 230, 46, 180, 30
"""Distances and sizes of nodes, in pixels."""

NODES_MAX = 200
"""A picture of more could not be read."""


class Edge(Value, frozen=True, kw_only=True):
    """A line from one node to another.

    Attributes:
        label: what it means, shown where it is pointed at.
        kind: flow, or trigger, which is drawn dashed.
    """

    source: str
    target: str
    label: str
    kind: str = "flow"


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
    """An edge with its path, as SVG writes it."""

    edge: Edge
    path: str


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
        lines=tuple(Line(edge=edge, path=_path(nodes[edge.source], nodes[edge.target])) for edge in found),
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


def _path(source: Node, target: Node) -> str:
    x1, y1 = source.x + WIDTH, source.y + HEIGHT // 2
    x2, y2 = target.x, target.y + HEIGHT // 2
    if x2 <= source.x:
        x1, x2 = source.x + WIDTH // 2, target.x + WIDTH // 2
    middle = (x1 + x2) // 2
    return f"M{x1},{y1} C{middle},{y1} {middle},{y2} {x2},{y2}"
