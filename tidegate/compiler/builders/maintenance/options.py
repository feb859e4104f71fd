"""The builder of the options of an operation, with their defaults and their safe limits."""

from datetime import timedelta
from typing import Any

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.duration import duration_at
from tidegate.compiler.values.size import size_at
from tidegate.domain.duration import duration_text
from tidegate.domain.maintenance.options import LEAST_ORPHAN_AGE, OPTIONS, Kind, Values, with_defaults
from tidegate.domain.model import Operation
from tidegate.domain.wording import shown


def build_options(operation: Operation, node: MappingNode | None, scope: Scope) -> Values:
    """Build the options of an operation: what is written, and the defaults of the rest."""
    written = {
        name: value
        for name, option in OPTIONS[operation].items()
        if node is not None and name in node.values
        if (value := _value(option.kind, node.values[name], scope)) is not None
    }
    found = with_defaults(operation, written)
    if node is not None and operation is Operation.REMOVE_ORPHAN_FILES:
        _check_orphan_age(node, found, scope)
    return found


def _value(kind: Kind, node: Node, scope: Scope) -> Any:
    """Return a value in the unit of its kind; None after reporting a wrong one."""
    if kind == "size":
        return size_at(node, scope)
    if kind == "duration":
        duration = duration_at(node, scope)
        return None if duration is None else duration.total_seconds()
    return node.value if isinstance(node, ScalarNode) else None


def _check_orphan_age(node: MappingNode, options: Values, scope: Scope) -> None:
    age = timedelta(seconds=options["older_than"])
    if age < LEAST_ORPHAN_AGE:
        scope.findings.add(
            "V252",
            node.values["older_than"],
            f"files that are removed are at least {duration_text(LEAST_ORPHAN_AGE)} old,"
            f" got {shown(node.text('older_than'))}",
            "write 1d or more; the default is 3d",
        )
