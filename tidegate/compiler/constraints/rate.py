"""The `rate` constraint: `rate: {max: 3, per: 1h}` limits the launches of the program in a sliding window."""

from tidegate.compiler.constraints.kind import ConstraintKind, otherwise_of
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.model import At, RateConstraint


def _build(node: Node, at: At, scope: Scope) -> RateConstraint | None:
    per = duration_at(node.get("per"), scope) if isinstance(node, MappingNode) else None
    if not isinstance(node, MappingNode) or per is None:
        return None
    return RateConstraint(max=node.number("max", 1), per=per, otherwise=otherwise_of(node), at=at)


KIND = ConstraintKind(key="rate", build=_build)
