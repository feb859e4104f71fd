"""The `any` trigger: holds when one member holds."""

from compiler.build.scope import Scope
from compiler.model import AnyTrigger
from compiler.triggers.kind import TriggerKind, Written


def _build(written: Written, _scope: Scope) -> AnyTrigger | None:
    members = written.members(written.node.items("any"))
    return AnyTrigger(of=members, **written.options) if members is not None else None


KIND = TriggerKind(key="any", build=_build)
