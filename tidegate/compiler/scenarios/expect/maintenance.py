"""Reads the expectations of `expect:` on tables: `maintain`, `due`, `debt`, and `discarded` of a table."""

from typing import cast

from tidegate.compiler.reader.node import MappingNode, plain
from tidegate.compiler.scenarios.model.maintenance import (
    DebtPart,
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
)
from tidegate.compiler.scenarios.model.scenario import Expected
from tidegate.compiler.scenarios.scope import ExampleScope, optional_text, text_of
from tidegate.domain.model import Operation
from tidegate.domain.part_name import whole_name


def maintain(node: MappingNode, scope: ExampleScope) -> Expected | None:
    """Return the expected start of an operation."""
    when = scope.instant(node.get("at"), "`at`")
    table = scope.table(node.values["maintain"])
    policy = optional_text(node, "policy")
    if table is None:
        return None
    return ExpectMaintain(
        table=table,
        operation=Operation(node.text("operation")),
        when=when,
        policy=None if policy is None else whole_name(scope.app.name, policy),
        probe=_flag(node, "probe"),
        forced=_flag(node, "forced"),
        excluded=scope.keys(node.items("excluded")) if "excluded" in node.values else None,
    )


def due(node: MappingNode, scope: ExampleScope) -> Expected | None:
    """Return the expectation of a due operation, or of the next run of one that is not due."""
    when = scope.instant(node.get("at"), "`at`")
    table = scope.table(node.values["due"])
    next_run = scope.instant(node.get("next"), "`next`", bounded=False)
    if table is None or when is None:
        return None
    return ExpectDue(
        table=table,
        operation=Operation(node.text("operation")),
        when=when,
        reason=node.text("reason") or None,
        next=next_run,
    )


def debt(node: MappingNode, scope: ExampleScope) -> Expected | None:
    """Return the expected debt of a table."""
    when = scope.instant(node.get("at"), "`at`")
    table = scope.table(node.values["debt"])
    if table is None or when is None:
        return None
    parts = node.mapping("parts")
    return ExpectDebt(
        table=table,
        when=when,
        score=float(plain(node.values["score"])),
        parts=None
        if parts is None
        else {cast("DebtPart", name): float(value) for name, value in plain(parts).items()},
    )


def is_of_table(node: MappingNode) -> bool:
    """Return whether a `discarded` is about a table: beside `operation`, or by the form of its name."""
    name = text_of(node.values["discarded"])
    return "operation" in node.values or "." in name or "/" in name


def discarded(node: MappingNode, scope: ExampleScope) -> Expected | None:
    """Return the expected discard of a due operation."""
    when = scope.instant(node.get("at"), "`at`")
    table = scope.table(node.values["discarded"])
    operation = node.text("operation")
    if table is None:
        return None
    return ExpectDiscardedOperation(
        table=table,
        operation=Operation(operation) if operation else None,
        when=when,
        reason=node.text("reason") or None,
    )


def _flag(node: MappingNode, key: str) -> bool | None:
    return node.flag(key, False) if key in node.values else None
