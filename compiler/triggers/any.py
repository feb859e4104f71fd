"""The `any` trigger: holds when one member holds."""

from compiler.build.scope import Scope
from compiler.model import AnyTrigger
from compiler.triggers.kind import TriggerKind, Written


def _build(written: Written, scope: Scope) -> AnyTrigger | None:
    nodes = written.node.items("any")
    members = [built for node in nodes if (built := written.member(node)) is not None]
    if len(members) < len(nodes):
        return None
    return AnyTrigger(of=tuple(members), wait_at_most=written.wait_at_most, at=written.at)


KIND = TriggerKind(key="any", build=_build)
