"""The `at_least` trigger: `at_least: {n: 2, of: [...]}` holds when `n` of its members hold."""

from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import AtLeastTrigger
from tidegate.domain.wording import plural


def _build(written: Written, scope: Scope) -> AtLeastTrigger | None:
    node = written.node.mapping("at_least")
    if node is None:
        return None
    n, nodes = node.number("n", 1), node.items("of")
    members = written.members(nodes)
    if n > len(nodes):
        scope.findings.add(
            "V212",
            node.values["n"],
            f"`n` is at most the number of members, got n: {n} of {plural(len(nodes), 'member')}",
            f"write n: {len(nodes)} or less, or add members",
        )
        return None
    return AtLeastTrigger(n=n, of=members, **written.options) if members is not None else None


KIND = TriggerKind(key="at_least", build=_build)
