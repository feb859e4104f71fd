"""The `all` trigger: holds when every member holds."""

from compiler.build.scope import Scope
from compiler.model import AllTrigger
from compiler.triggers.kind import TriggerKind, Written


def _build(written: Written, scope: Scope) -> AllTrigger | None:
    nodes = written.node.items("all")
    members = [built for node in nodes if (built := written.member(node)) is not None]
    if len(members) < len(nodes):
        return None
    return AllTrigger(of=tuple(members), wait_at_most=written.wait_at_most, at=written.at)


KIND = TriggerKind(key="all", build=_build)
