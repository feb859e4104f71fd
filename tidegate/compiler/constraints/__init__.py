"""The registry of the kinds of constraints, and the function that builds any of them.

The registry is the only place that lists the kinds. The fields of a kind are read as their types say. A
`window`, whose values must fit together, has a file of its own.
"""

from tidegate.compiler.constraints.window import build_window
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.fields import read_value
from tidegate.domain.model import (
    ConcurrencyConstraint,
    Constraint,
    DelayConstraint,
    LoadConstraint,
    RateConstraint,
    SinceLastRunConstraint,
    WindowConstraint,
)

KINDS: dict[str, type[Constraint]] = {
    "concurrency": ConcurrencyConstraint,
    "delay": DelayConstraint,
    "window": WindowConstraint,
    "since_last_run": SinceLastRunConstraint,
    "rate": RateConstraint,
    "load": LoadConstraint,
}


def build_constraint(node: Node, scope: Scope) -> Constraint | None:
    """Build the constraint of a node; return None after reporting an error."""
    found = [key for key in node.keys if key in KINDS] if isinstance(node, MappingNode) else []
    if not isinstance(node, MappingNode) or len(found) != 1:
        return None
    key = found[0]
    written, at = node.values[key], scope.at(node.keys[key])
    if isinstance(written, MappingNode):
        if key == "window":
            return build_window(written, at, scope)
        group = written.get("group")
        if isinstance(group, ScalarNode) and not scope.group(group):
            return None
    return read_value(KINDS[key], written, scope, at, short="for")
