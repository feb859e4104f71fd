"""The builder of an operation of a policy: when it is due, its window, its options and its conditions."""

from tidegate.compiler.builders.maintenance.conditions import build_conditions, refuse_both
from tidegate.compiler.builders.maintenance.options import build_options
from tidegate.compiler.constraints import window
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.cron import cron_of
from tidegate.compiler.values.duration import optional_duration
from tidegate.compiler.values.zone import zone_of
from tidegate.domain.model import Operation, OperationPlan, WindowConstraint
from tidegate.domain.model.maintenance import OPERATION_TIMEOUT
from tidegate.domain.wording import shown


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
        interval=optional_duration(written, "interval", scope),
        timezone=zone_of(written, scope),
        window=_window(written, scope),
        timeout=optional_duration(written, "timeout", scope) or OPERATION_TIMEOUT,
        options=build_options(operation, written.mapping("options"), scope),
        when=build_conditions(written.mapping("when"), scope),
        at=scope.at(key),
    )


def _window(operation: MappingNode, scope: Scope) -> WindowConstraint | None:
    hours = operation.mapping("window")
    return None if hours is None else window.build_window(hours, scope.at(operation.keys["window"]), scope)
