"""The `concurrency` constraint: at most so many runs of the program, or of a named group, at once."""

from compiler.build.scope import Scope
from compiler.constraints.kind import ConstraintKind, otherwise_of
from compiler.model import At, ConcurrencyConstraint
from compiler.reader.node import Mapping, Node, Scalar


def _build(node: Node, at: At, scope: Scope) -> ConcurrencyConstraint | None:
    if not isinstance(node, Mapping):
        return None
    group = node.get("group")
    if isinstance(group, Scalar) and not scope.group(group):
        return None
    return ConcurrencyConstraint(
        max=node.number("max", 1),
        group=node.text("group") or None,
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="concurrency", build=_build)
