"""The rule for `collect_existing`: it needs a trigger that counts the partitions of a dataset."""

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Schedule, leaves_with_existing


def check_collect_existing(schedule: Schedule, node: MappingNode, scope: Scope) -> None:
    """Warn of a `collect_existing` of a schedule or trigger under which no dataset is counted."""
    if schedule.collect_existing and not any(leaves_with_existing(schedule.trigger, asked=True)):
        _warn(node, scope)
    trigger = node.mapping("trigger")
    for place in () if trigger is None else _triggers(trigger):
        if place.flag("collect_existing", False) and not any(_counts(member) for member in _triggers(place)):
            _warn(place, scope)


def _warn(node: MappingNode, scope: Scope) -> None:
    scope.findings.add(
        "L450",
        node.keys["collect_existing"],
        "`collect_existing` collects events of a dataset, got it where none is counted",
        "delete it, or move it to a `partitions` or `size` trigger",
    )


def _triggers(node: MappingNode) -> list[MappingNode]:
    """Return a trigger and the triggers inside it."""
    members = [*node.items("all"), *node.items("any"), *node.items("sequence")]
    inner = node.mapping("at_least")
    members += [] if inner is None else inner.items("of")
    inside = [member for member in members if isinstance(member, MappingNode)]
    return [node, *(found for member in inside for found in _triggers(member))]


def _counts(trigger: MappingNode) -> bool:
    return "partitions" in trigger.keys or "size" in trigger.keys
