"""The kinds of triggers, and the one function that builds any of them.

The registry is the only place that lists the kinds. A kind's file holds all that is its own.
"""

from compiler.build.duration import optional_duration
from compiler.build.scope import Scope
from compiler.model import Trigger
from compiler.reader.node import Mapping, Node
from compiler.triggers import all, any, cron, partitions, run
from compiler.triggers.kind import TriggerKind, Written

KINDS: dict[str, TriggerKind] = {
    kind.key: kind for kind in (cron.KIND, partitions.KIND, run.KIND, all.KIND, any.KIND)
}

MAX_TRIGGER_DEPTH = 8
"""Composites inside each other; a condition that needs more is better told in two schedules."""


def build_trigger(node: Node | None, scope: Scope, depth: int = 1) -> Trigger | None:
    """The trigger that a node describes; None after an error has been reported."""
    if not isinstance(node, Mapping):
        return None
    found = [key for key in node.keys if key in KINDS]
    if len(found) != 1:
        return None
    at = scope.at(node.keys[found[0]])
    if depth > MAX_TRIGGER_DEPTH:
        scope.findings.add(
            "L409",
            node.keys[found[0]],
            f"triggers nest at most {MAX_TRIGGER_DEPTH} deep, got {depth}",
            "move a part into a schedule of its own, and wait for its run",
        )
        return None
    written = Written(
        node=node,
        at=at,
        wait_at_most=optional_duration(node, "wait_at_most", scope),
        member=lambda member: build_trigger(member, scope, depth + 1),
    )
    return KINDS[found[0]].build(written, scope)
