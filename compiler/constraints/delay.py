"""The `delay` constraint: `delay: 10m`, or `delay: {for: 10m, from: first_event}`."""

from compiler.build.duration import duration_at
from compiler.build.scope import Scope
from compiler.constraints.kind import ConstraintKind, otherwise_of
from compiler.model import At, DelayConstraint
from compiler.reader.node import Mapping, Node


def _build(node: Node, at: At, scope: Scope) -> DelayConstraint | None:
    for_ = duration_at(node.get("for") if isinstance(node, Mapping) else node, scope)
    if for_ is None:
        return None
    first = isinstance(node, Mapping) and node.text("from") == "first_event"
    return DelayConstraint(
        for_=for_,
        from_="first_event" if first else "satisfied",
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="delay", build=_build)
