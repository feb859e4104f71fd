"""The builder of `maintenance:`, the settings of the maintenance of a whole store."""

from datetime import timedelta

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at, optional_duration, size_at
from tidegate.domain.model import Budget, DebtWeights, Maintenance, MaintenanceBackOff, Throttle

MIN_POLL = timedelta(seconds=1)
"""Polls that follow more closely would find nothing more and cost as much."""

NO_KEYS = MappingNode({}, {}, 0, 0)


def build_maintenance(root: MappingNode, scope: Scope) -> Maintenance | None:
    """Build the settings at `maintenance`; None without them. Wrong values are reported, and left out."""
    node = root.mapping("maintenance")
    if node is None:
        return None
    return Maintenance(
        poll=duration_at(node.get("poll"), scope, minimum=MIN_POLL) or Maintenance().poll,
        budget=_budget(node.mapping("budget") or NO_KEYS, scope),
        backoff=_backoff(node.mapping("backoff") or NO_KEYS, scope),
        throttle=_throttle(node.mapping("throttle") or NO_KEYS, scope),
        debt=_debt(node.mapping("debt") or NO_KEYS),
        auto_pools=_auto_pools(node.mapping("auto_pools") or NO_KEYS, scope),
        at=scope.at(root.keys["maintenance"]),
    )


def _budget(node: MappingNode, scope: Scope) -> Budget:
    return Budget(
        tables_per_poll=node.number("tables_per_poll", 0),
        operations_per_poll=node.number("operations_per_poll", 0),
        bytes_per_hour=size_at(node.get("bytes_per_hour"), scope) or 0,
    )


def _backoff(node: MappingNode, scope: Scope) -> MaintenanceBackOff:
    default = MaintenanceBackOff()
    return MaintenanceBackOff(
        after_failures=node.number("after_failures", default.after_failures),
        for_=optional_duration(node, "for", scope) or default.for_,
    )


def _throttle(node: MappingNode, scope: Scope) -> Throttle:
    default = Throttle()
    return Throttle(
        after_zero_changes=node.number("after_zero_changes", default.after_zero_changes),
        slow_down_percent=node.decimal("slow_down_percent", default.slow_down_percent),
        at_least=optional_duration(node, "at_least", scope) or default.at_least,
    )


def _debt(node: MappingNode) -> DebtWeights:
    default = DebtWeights()
    return DebtWeights(
        critical=node.decimal("critical", default.critical),
        warning=node.decimal("warning", default.warning),
        info=node.decimal("info", default.info),
        per_stale_day=node.decimal("per_stale_day", default.per_stale_day),
        failure_rate=node.decimal("failure_rate", default.failure_rate),
        per_failure_in_a_row=node.decimal("per_failure_in_a_row", default.per_failure_in_a_row),
        order_by_failures=node.flag("order_by_failures", default.order_by_failures),
    )


def _auto_pools(node: MappingNode, scope: Scope) -> dict[str, int]:
    return {name: node.number(name, 1) for name, key in node.keys.items() if scope.group(key)}
