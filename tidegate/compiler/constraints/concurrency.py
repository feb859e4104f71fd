"""The `concurrency` constraint: a limit of active runs of the program or of a named group."""

from tidegate.compiler.constraints.kind import ConstraintKind, otherwise_of
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import At, ConcurrencyConstraint


def _build(node: Node, at: At, scope: Scope) -> ConcurrencyConstraint | None:
    if not isinstance(node, MappingNode):
        return None
    group = node.get("group")
    if isinstance(group, ScalarNode) and not scope.group(group):
        return None
    return ConcurrencyConstraint(
        max=node.number("max", 1),
        group=node.text("group") or None,
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="concurrency", build=_build)
