"""The registry of the kinds of constraints, and the function that builds any of them.

The registry is the only place that lists the kinds. Each kind has a file of its own.
"""

from tidegate.compiler.constraints import concurrency, delay, load, rate, since_last_run, window
from tidegate.compiler.constraints.kind import ConstraintKind
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Constraint

KINDS: dict[str, ConstraintKind] = {
    kind.key: kind
    for kind in (concurrency.KIND, delay.KIND, window.KIND, since_last_run.KIND, rate.KIND, load.KIND)
}


def build_constraint(node: Node, scope: Scope) -> Constraint | None:
    """Build the constraint of a node; return None after reporting an error."""
    if not isinstance(node, MappingNode):
        return None
    found = [key for key in node.keys if key in KINDS]
    if len(found) != 1:
        return None
    key = found[0]
    return KINDS[key].build(node.values[key], scope.at(node.keys[key]), scope)
