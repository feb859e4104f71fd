"""Durations where they stand in the YAML; `domain.time.duration` says what is one."""

from datetime import timedelta

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.domain.time.duration import DurationError, parse_duration


def duration_at(node: Node | None, scope: Scope) -> timedelta | None:
    """The duration that a node holds; None if there is none, or with a finding if it is none."""
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return None
    try:
        return parse_duration(node.value)
    except DurationError as error:
        scope.findings.add("V201", node, error.message, error.hint)
        return None


def optional_duration(mapping: MappingNode, key: str, scope: Scope) -> timedelta | None:
    """The duration at a key that may be absent."""
    return duration_at(mapping.get(key), scope)
