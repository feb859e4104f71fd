"""The `all` trigger: holds when every member holds."""

from compiler.build.scope import Scope
from compiler.model import AllTrigger
from compiler.triggers.kind import TriggerKind, Written


def _build(written: Written, _scope: Scope) -> AllTrigger | None:
    members = written.members(written.node.items("all"))
    return AllTrigger(of=members, **written.options) if members is not None else None


KIND = TriggerKind(key="all", build=_build)
