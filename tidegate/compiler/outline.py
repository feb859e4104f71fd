"""The outline of a file: its nodes that are needed once the file is built.

The rules that see all files, and the checks of channels, clusters and imports, look at few places of a file:
its name, its tasks with their upstream tasks, the programs with their clusters and what is imported,
`alerts`, former names, and each name with a namespace. They get these alone, so a file whose app is known
already need not be read for them.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.compiler.rules.namespaces import is_namespaced
from tidegate.domain.value import Value

Shape = Mapping[str, Any]
"""What is kept below a mapping or list, by key: a shape, or `WHOLE`. A key may be `EACH`, or `ITSELF`."""

EACH = "*"
"""All other keys, and all members of a list."""
ITSELF = ""
"""A mapping with it is kept even if nothing in it is."""
WHOLE: Shape = {}
NOTHING: Shape = {}

_ALERTS: Shape = {"alerts": WHOLE}
_FILE: Shape = {
    "app": WHOLE,
    "renamed_from": WHOLE,
    "alerts": WHOLE,
    "datasets": {EACH: {**_ALERTS, "checks": {EACH: {"run": WHOLE}}}},
    "schedules": {EACH: _ALERTS},
    "tasks": {EACH: {ITSELF: WHOLE, **_ALERTS, "program": WHOLE, "depends_on": WHOLE}},
    "programs": {EACH: {"run": WHOLE, "cluster": WHOLE, "reads": {EACH: {"incremental": WHOLE}}}},
}


class Outline(Value, kw_only=True):
    """The outline of a file.

    Attributes:
        root: the nodes that are kept, at their places.
        examples: whether the file has examples, which need all of it.
    """

    root: MappingNode
    examples: bool


def outline_of(root: MappingNode) -> Outline:
    """Return the outline of a file."""
    kept = _kept(root, _FILE, "")
    nodes = kept if isinstance(kept, MappingNode) else msgspec.structs.replace(root, values={}, keys={})
    return Outline(root=nodes, examples=bool(root.items("examples")))


def _kept(node: Node, shape: Shape, key: str) -> Node | None:
    """Return what is kept of a node below a key; None for nothing."""
    if shape is WHOLE:
        return node
    if isinstance(node, ScalarNode):
        return node if is_namespaced(node, key) else None
    others = shape.get(EACH, NOTHING)
    if isinstance(node, SequenceNode):
        items = tuple(kept for each in node.items if (kept := _kept(each, others, key)) is not None)
        return msgspec.structs.replace(node, items=items) if items else None
    values = {
        name: kept
        for name, each in node.values.items()
        if (kept := _kept(each, shape.get(name, others), name)) is not None
    }
    if not values and ITSELF not in shape:
        return None
    return msgspec.structs.replace(node, values=values, keys={name: node.keys[name] for name in values})
