"""The `delay` constraint: `delay: 10m`, or `delay: {for: 10m, from: first_event}`."""

from tidegate.compiler.constraints.kind import ConstraintKind, otherwise_of
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.model import At, DelayConstraint


def _build(node: Node, at: At, scope: Scope) -> DelayConstraint | None:
    for_ = duration_at(node.get("for") if isinstance(node, MappingNode) else node, scope)
    if for_ is None:
        return None
    first = isinstance(node, MappingNode) and node.text("from") == "first_event"
    return DelayConstraint(
        for_=for_,
        from_="first_event" if first else "satisfied",
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="delay", build=_build)
