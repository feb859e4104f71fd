"""The builder of `maintenance:`, the settings of the maintenance of a whole store."""

from datetime import timedelta
from typing import Any

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.fields import read_value
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.model import Budget, DebtWeights, Maintenance, MaintenanceBackOff, Throttle

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
