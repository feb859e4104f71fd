"""The `rate` constraint: `rate: {max: 3, per: 1h}`, launches of the program within a sliding time."""

from compiler.build.duration import duration_at
from compiler.build.scope import Scope
from compiler.constraints.kind import ConstraintKind, otherwise_of
from compiler.model import At, RateConstraint
from compiler.reader.node import Mapping, Node


def _build(node: Node, at: At, scope: Scope) -> RateConstraint | None:
    per = duration_at(node.get("per"), scope) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or per is None:
        return None
    return RateConstraint(max=node.number("max", 1), per=per, otherwise=otherwise_of(node), at=at)


KIND = ConstraintKind(key="rate", build=_build)
