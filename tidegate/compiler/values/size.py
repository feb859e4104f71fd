"""Sizes in the YAML; `domain.size` parses the text."""

from tidegate.compiler.reader.node import Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.size import SizeError, parse_size


def size_at(node: Node | None, scope: Scope) -> int | None:
    """Return the bytes of a node; None without a size, or after reporting a wrong one."""
    value = node.value if isinstance(node, ScalarNode) else None
    if isinstance(value, int):
        return int(value)
    if node is None or not isinstance(value, str):
        return None
    try:
        return parse_size(value)
    except SizeError as error:
        scope.findings.add("V213", node, error.message, error.hint)
        return None
