"""The builder of a policy: its patterns, its operations with their options, and its rules of health."""

from datetime import timedelta
from typing import Any

from tidegate.compiler.constraints.window import build_window
from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, plain
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.fields import read_value
from tidegate.compiler.values.texts import cron_of, duration_at, size_at, zone_of
from tidegate.domain.duration import duration_text
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.maintenance.pattern import PatternError, parse_pattern
from tidegate.domain.model import (
    Budget,
    Conditions,
    DebtWeights,
    HealthRules,
    Maintenance,
    MaintenanceBackOff,
    Operation,
    OperationPlan,
    Policy,
    Threshold,
    Throttle,
    WindowConstraint,
)
from tidegate.domain.model.maintenance import OPERATION_TIMEOUT
from tidegate.domain.model.operation import Kind, Option, Values
from tidegate.domain.part_name import SEPARATOR
from tidegate.domain.size import size_text
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown


def build_conditions(node: MappingNode | None, scope: Scope) -> Conditions | None:
    """Build the conditions of an operation; None without any."""
    if node is None or not node.values:
        return None
    refuse_both(node, "any", "all", "`when` needs any or all of its thresholds", scope)
    if list(node.values) == ["at_latest"]:
        scope.findings.add(
            "V209",
            node.keys["at_latest"],
            "`at_latest` forces what thresholds or `min_interval` hold back,"
            f" got {shown(node.text('at_latest'))} alone",
            "add for example any: [{small_file_percent: 20}], or delete `when`: it runs whenever it is due",
        )
    return Conditions(
        mode="any" if "any" in node.values else "all",
        thresholds=tuple(
            threshold
            for member in (*node.items("any"), *node.items("all"))
            if isinstance(member, MappingNode)
            for threshold in _thresholds(member, scope)
        ),
        min_interval=duration_at(node.get("min_interval"), scope),
        at_latest=duration_at(node.get("at_latest"), scope),
    )


def _thresholds(node: MappingNode, scope: Scope) -> list[Threshold]:
    """Return the threshold of a mapping; none after reporting a wrong value."""
    values = {name: value_of(name, value, scope) for name, value in node.values.items()}
    return [Threshold(measure=name, at_least=value) for name, value in values.items() if value is not None]


def value_of(measure: str, node: Node, scope: Scope) -> float | None:
    """Return the value of a measure in its unit; None after reporting a wrong one."""
    unit = MEASURES[measure].unit if measure in MEASURES else None
    if unit == "bytes":
        size = size_at(node, scope)
        return None if size is None else float(size)
    if unit == "seconds":
        age = duration_at(node, scope)
        return None if age is None else age.total_seconds()
    value = node.value if isinstance(node, ScalarNode) else None
    return float(value) if unit is not None and isinstance(value, int | float) else None


def refuse_both(mapping: MappingNode, one: str, other: str, rule: str, scope: Scope) -> None:
    """Report two keys of a mapping that exclude each other, at the second one."""
    if one not in mapping.keys or other not in mapping.keys:
        return
    first, second = sorted((mapping.keys[one], mapping.keys[other]), key=lambda key: (key.line, key.column))
    scope.findings.add(
        "V251",
        second,
        f"{rule}, got `{first.value}` and `{second.value}`",
        "delete one of the two",
        (Related(at=scope.at(first), note=f"`{first.value}` is here"),),
    )


MIN_POLL = timedelta(seconds=1)
"""Polls that follow more closely would find nothing more and cost as much."""

_SECTIONS = {"budget": Budget, "backoff": MaintenanceBackOff, "throttle": Throttle, "debt": DebtWeights}


def build_maintenance(root: MappingNode, scope: Scope) -> Maintenance | None:
    """Build the settings at `maintenance`; None without them. Wrong values are reported, and left out."""
    node = root.mapping("maintenance")
    if node is None:
        return None
    written = {name: node.mapping(name) for name in _SECTIONS}
    sections: dict[str, Any] = {
        name: read_value(_SECTIONS[name], section, scope) or _SECTIONS[name]()
        for name, section in written.items()
        if section is not None
    }
    pools = node.mapping("auto_pools")
    return Maintenance(
        poll=duration_at(node.get("poll"), scope, minimum=MIN_POLL) or Maintenance().poll,
        auto_pools={} if pools is None else _auto_pools(pools, scope),
        at=scope.at(root.keys["maintenance"]),
        **sections,
    )


def _auto_pools(node: MappingNode, scope: Scope) -> dict[str, int]:
    return {name: node.number(name, 1) for name, key in node.keys.items() if scope.group(key)}


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


def build_operation(operation: Operation, key: ScalarNode, node: Node, scope: Scope) -> OperationPlan:
    """Build an operation of a policy; report wrong values, and leave them out."""
    written = node if isinstance(node, MappingNode) else MappingNode({}, {}, node.line, node.column)
    refuse_both(written, "cron", "interval", "an operation is due by a cron or after an interval", scope)
    cron = cron_of(written, scope)
    if "timezone" in written.values and "cron" not in written.values:
        scope.findings.add(
            "V209",
            written.keys["timezone"],
            f"`timezone` is that of `cron`, got {shown(written.text('timezone'))} without a `cron`",
            "delete it; a window has a `timezone` of its own",
        )
    return OperationPlan(
        operation=operation,
        enabled=written.flag("enabled", True),
        cron=cron,
        interval=duration_at(written.get("interval"), scope),
        timezone=zone_of(written, scope),
        window=_window(written, scope),
        timeout=duration_at(written.get("timeout"), scope) or OPERATION_TIMEOUT,
        options=build_options(operation, written.mapping("options"), scope),
        when=build_conditions(written.mapping("when"), scope),
        at=scope.at(key),
    )


def _window(operation: MappingNode, scope: Scope) -> WindowConstraint | None:
    hours = operation.mapping("window")
    return None if hours is None else build_window(hours, scope.at(operation.keys["window"]), scope)


def build_health(policy: MappingNode, scope: Scope) -> HealthRules | None:
    """Build the rules of health of a policy; None if it says nothing of health."""
    node = policy.mapping("health")
    if node is None:
        return None
    default = HealthRules()
    small = size_at(node.get("small_file"), scope) or default.small_file
    large = size_at(node.get("large_file"), scope) or default.large_file
    if small >= large:
        scope.findings.add(
            "V253",
            node.values.get("small_file", node.values.get("large_file", node)),
            f"`small_file` is below `large_file`, got {size_text(small)} and {size_text(large)}",
            "change one of the two: a file between them is neither small nor large",
        )
    return HealthRules(
        small_file=small,
        large_file=large,
        thresholds=_limits(node.mapping("thresholds"), scope),
        sample=node.number("sample", 1) if "sample" in node.values else None,
    )


def _limits(node: MappingNode | None, scope: Scope) -> dict[str, tuple[float, float]]:
    pairs = {
        measure: _pair(measure, limits, scope)
        for measure, limits in (node.values.items() if node is not None else ())
    }
    return {measure: pair for measure, pair in pairs.items() if pair is not None}


def _pair(measure: str, limits: Node, scope: Scope) -> tuple[float, float] | None:
    """Return from where on a measure is a warning, and critical; None after reporting a wrong value."""
    places = limits.items if isinstance(limits, SequenceNode) else ()
    values = [value_of(measure, each, scope) for each in places]
    warning, critical = values if len(values) == 2 else (None, None)
    if warning is None or critical is None:
        return None
    if warning > critical:
        first, second = plain(limits)
        scope.findings.add(
            "V253",
            limits,
            f"the warning of `{measure}` is not above its critical value, got {first} and {second}",
            "write the smaller value first",
        )
    return warning, critical


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
