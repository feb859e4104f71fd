"""The triggers `all`, `any` and `sequence`, which say nothing beside their members."""

from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import AllTrigger, AnyTrigger, SequenceTrigger

Plain = AllTrigger | AnyTrigger | SequenceTrigger


def _kind(key: str, trigger: type[Plain]) -> TriggerKind:
    def build(written: Written, _scope: Scope) -> Plain | None:
        members = written.members(written.node.items(key))
        return trigger(of=members, **written.options) if members is not None else None

    return TriggerKind(key=key, build=build)


ALL, ANY, SEQUENCE = _kind("all", AllTrigger), _kind("any", AnyTrigger), _kind("sequence", SequenceTrigger)
