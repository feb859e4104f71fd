"""The `any` trigger: holds when one member holds."""

from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import AnyTrigger


def _build(written: Written, _scope: Scope) -> AnyTrigger | None:
    members = written.members(written.node.items("any"))
    return AnyTrigger(of=members, **written.options) if members is not None else None


KIND = TriggerKind(key="any", build=_build)
