"""The builder of a policy: its patterns, its operations and its rules of health."""

from tidegate.compiler.builders.maintenance.health import build_health
from tidegate.compiler.builders.maintenance.operation import build_operation
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.maintenance.pattern import PatternError, parse_pattern
from tidegate.domain.model import Operation, OperationPlan, Policy
from tidegate.domain.part_name import SEPARATOR
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown


def build_policy(key: ScalarNode, node: MappingNode, scope: Scope) -> Policy:
    """Build a policy of an app; report wrong values, and leave them out."""
    return Policy(
        name=str(key.value),
        tables=_patterns(node, scope),
        priority=node.number("priority", 0),
        enabled=node.flag("enabled", True),
        operations=_operations(node.mapping("operations"), scope),
        health=build_health(node, scope),
        description=node.text("description"),
        at=scope.at(key),
    )


def _operations(node: MappingNode | None, scope: Scope) -> dict[Operation, OperationPlan]:
    """Return the operations in the order in which they run."""
    return {
        operation: build_operation(operation, node.keys[operation], node.values[operation], scope)
        for operation in Operation
        if node is not None and operation in node.values
    }


def _patterns(policy: MappingNode, scope: Scope) -> tuple[str, ...]:
    one = policy.get("tables")
    places = (one,) if isinstance(one, ScalarNode) else policy.strings("tables")
    found: list[str] = []
    for place in places:
        try:
            pattern = parse_pattern(str(place.value))
        except PatternError as error:
            scope.findings.add("V250", place, error.message, error.hint)
            continue
        if pattern.dataset is not None:
            _check_dataset(pattern.dataset, place, scope)
        found.append(pattern.text)
    return tuple(found)


def _check_dataset(dataset: str, place: ScalarNode, scope: Scope) -> None:
    """Warn of a dataset of this app that is not declared; keep one of another app for the examples.

    One of another app that is not known is left to `plan`.
    """
    app, _, name = dataset.partition(SEPARATOR)
    if app != scope.app:
        other = scope.others.app(app)
        found = None if other is None else other.dataset(name)
        if found is not None:
            scope.datasets[dataset] = found
        return
    if name in scope.datasets or f"datasets.{name}" in scope.broken:
        return
    own = [f"{app}{SEPARATOR}{each}" for each in scope.datasets if SEPARATOR not in each]
    scope.findings.add(
        "L471",
        place,
        f"a policy names datasets that exist, got {shown(dataset)}",
        did_you_mean(dataset, own, "datasets"),
    )
