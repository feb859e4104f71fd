"""Durations in the YAML; `domain.duration` parses the text."""

from datetime import timedelta

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import MIN_DURATION, DurationError, parse_duration


def duration_at(node: Node | None, scope: Scope, *, minimum: timedelta = MIN_DURATION) -> timedelta | None:
    """Return the duration of a node; None without a text, or after reporting a wrong one."""
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return None
    try:
        return parse_duration(node.value, minimum=minimum)
    except DurationError as error:
        scope.findings.add("V201", node, error.message, error.hint)
        return None


def optional_duration(mapping: MappingNode, key: str, scope: Scope) -> timedelta | None:
    """Return the duration at an optional key."""
    return duration_at(mapping.get(key), scope)
