"""The `since_last_run` constraint: the minimum time since the program's last run."""

from tidegate.compiler.constraints.kind import ConstraintKind, otherwise_of
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.model import At, SinceLastRunConstraint


def _build(node: Node, at: At, scope: Scope) -> SinceLastRunConstraint | None:
    for_ = duration_at(node.get("for") if isinstance(node, MappingNode) else node, scope)
    if for_ is None:
        return None
    start = isinstance(node, MappingNode) and node.text("measured_from") == "start"
    return SinceLastRunConstraint(
        for_=for_,
        measured_from="start" if start else "end",
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="since_last_run", build=_build)
