"""The builder of the rules of health of a policy."""

from tidegate.compiler.builders.maintenance.conditions import value_of
from tidegate.compiler.reader.node import MappingNode, Node, SequenceNode, plain
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.size import size_at
from tidegate.domain.model import HealthRules
from tidegate.domain.size import size_text


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
        thresholds=_thresholds(node.mapping("thresholds"), scope),
        sample=node.number("sample", 1) if "sample" in node.values else None,
    )


def _thresholds(node: MappingNode | None, scope: Scope) -> dict[str, tuple[float, float]]:
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
