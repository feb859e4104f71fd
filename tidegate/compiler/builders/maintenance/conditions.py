"""The builder of the conditions of an operation (`when`), and of values of measures."""

from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at, size_at
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.model import Conditions, Threshold
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
