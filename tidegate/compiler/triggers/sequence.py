"""The `sequence` trigger: holds when its members were satisfied one after the other."""

from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import SequenceTrigger


def _build(written: Written, _scope: Scope) -> SequenceTrigger | None:
    members = written.members(written.node.items("sequence"))
    return SequenceTrigger(of=members, **written.options) if members is not None else None


KIND = TriggerKind(key="sequence", build=_build)
