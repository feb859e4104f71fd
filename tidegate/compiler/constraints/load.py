"""The `load` constraint: `load: {max_active_runs: 4}`, or `load: {gauge: cpu, max: 80}`."""

from tidegate.compiler.constraints.kind import ConstraintKind, otherwise_of
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import At, LoadConstraint


def _build(node: Node, at: At, scope: Scope) -> LoadConstraint | None:
    if not isinstance(node, MappingNode):
        return None
    limit = node.get("max")
    return LoadConstraint(
        max_active_runs=node.number("max_active_runs", 1) if "max_active_runs" in node.values else None,
        gauge=node.text("gauge") or None,
        # 80 and 80.0 are the same limit and must have the same fingerprint.
        max=float(limit.value)
        if isinstance(limit, ScalarNode) and isinstance(limit.value, int | float)
        else None,
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="load", build=_build)
