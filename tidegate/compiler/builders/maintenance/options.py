"""The builder of the options of an operation, with their defaults and their safe limits."""

from datetime import timedelta
from typing import Any

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.duration import duration_at
from tidegate.compiler.values.size import size_at
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Operation
from tidegate.domain.model.operation import Kind, Option, Values
from tidegate.domain.wording import shown


def build_options(operation: Operation, node: MappingNode | None, scope: Scope) -> Values:
    """Build the options of an operation: what is written, and the defaults of the rest."""
    written = {
        name: value
        for name, option in operation.options.items()
        if node is not None and name in node.values
        if (value := _value(option.kind, node.values[name], scope)) is not None
    }
    for name in written:
        _check_age(name, operation.options[name], node, written[name], scope)
    return operation.with_defaults(written)


def _value(kind: Kind, node: Node, scope: Scope) -> Any:
    """Return a value in the unit of its kind; None after reporting a wrong one."""
    if kind == "size":
        return size_at(node, scope)
    if kind == "duration":
        duration = duration_at(node, scope)
        return None if duration is None else duration.total_seconds()
    return node.value if isinstance(node, ScalarNode) else None


def _check_age(name: str, option: Option, node: MappingNode | None, seconds: Any, scope: Scope) -> None:
    """Report an age below which files are not removed."""
    least = option.least_age
    if node is not None and least is not None and timedelta(seconds=seconds) < least:
        scope.findings.add(
            "V252",
            node.values[name],
            f"files that are removed are at least {duration_text(least)} old, got {shown(node.text(name))}",
            f"write {duration_text(least)} or more;"
            f" the default is {duration_text(timedelta(seconds=option.default))}",
        )
