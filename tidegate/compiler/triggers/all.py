"""The `all` trigger: holds when every member holds."""

from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import AllTrigger


def _build(written: Written, _scope: Scope) -> AllTrigger | None:
    members = written.members(written.node.items("all"))
    return AllTrigger(of=members, **written.options) if members is not None else None


KIND = TriggerKind(key="all", build=_build)
