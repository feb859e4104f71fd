"""The `since_last_run` constraint: a time that must have passed since the program's last run."""

from compiler.build.duration import duration_at
from compiler.build.scope import Scope
from compiler.constraints.kind import ConstraintKind, otherwise_of
from compiler.model import At, SinceLastRunConstraint
from compiler.reader.node import Mapping, Node


def _build(node: Node, at: At, scope: Scope) -> SinceLastRunConstraint | None:
    for_ = duration_at(node.get("for") if isinstance(node, Mapping) else node, scope)
    if for_ is None:
        return None
    start = isinstance(node, Mapping) and node.text("measured_from") == "start"
    return SinceLastRunConstraint(
        for_=for_,
        measured_from="start" if start else "end",
        otherwise=otherwise_of(node),
        at=at,
    )


KIND = ConstraintKind(key="since_last_run", build=_build)
