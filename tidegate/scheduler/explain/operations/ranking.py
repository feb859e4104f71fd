"""Ranking: which policies match a table, in the order in which they count for each operation, and why."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tidegate.domain.maintenance.pattern import Specificity, best_match
from tidegate.domain.model import Operation
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.rank import Match, matches
from tidegate.scheduler.model.maintenance import TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.policies import load_policies

Status = Literal["counts", "outranked", "not configured", "operation disabled", "policy disabled"]


class RankedPolicy(Value, kw_only=True):
    """One policy that matches a table, for one operation.

    Attributes:
        policy: "app/policy".
        pattern: of its patterns the one that matches best.
        specificity: of that pattern.
        status: whether it counts for the operation, or why not.
        because: why it comes before the next one that configures the operation; "" if it does not count.
    """

    policy: str
    priority: int
    pattern: str
    specificity: Specificity
    status: Status
    because: str = ""


class RankedOperation(Value, kw_only=True):
    """The policies that match a table, for one operation: those that configure it first, in their order."""

    operation: Operation
    policies: tuple[RankedPolicy, ...] = ()


def ranked_policies(reader: EngineReader, table: TableState, now: datetime) -> tuple[RankedOperation, ...]:
    """Return for each operation the policies that match a table, also those that are disabled."""
    policies = load_policies(reader, now).policies
    enabled = {ref: msgspec.structs.replace(policy, enabled=True) for ref, policy in policies.items()}
    found = [msgspec.structs.replace(match, policy=policies[match.ref]) for match in matches(enabled, table)]
    return tuple(_ranked(operation, found, table) for operation in Operation)


def _ranked(operation: Operation, found: Sequence[Match], table: TableState) -> RankedOperation:
    configuring = [match for match in found if _configures(match, operation)]
    others = [match for match in found if not _configures(match, operation)]
    ranked = [_policy(match, operation, configuring, table) for match in (*configuring, *others)]
    return RankedOperation(operation=operation, policies=tuple(ranked))


def _configures(match: Match, operation: Operation) -> bool:
    return match.policy.enabled and match.plan(operation) is not None


def _policy(
    match: Match, operation: Operation, configuring: Sequence[Match], table: TableState
) -> RankedPolicy:
    status: Status = "outranked"
    if not match.policy.enabled:
        status = "policy disabled"
    elif operation not in match.policy.operations:
        status = "not configured"
    elif match.plan(operation) is None:
        status = "operation disabled"
    elif match is configuring[0]:
        status = "counts"
    because = ""
    if status == "counts":
        because = _because(match, configuring[1:])
    return RankedPolicy(
        policy=match.ref,
        priority=match.policy.priority,
        pattern=_pattern(match, table),
        specificity=match.specificity,
        status=status,
        because=because,
    )


def _because(first: Match, others: Sequence[Match]) -> str:
    """Return why a policy counts before others, which are ranked."""
    if not others:
        return "no other policy configures it"
    second = others[0]
    if first.policy.priority != second.policy.priority:
        return f"priority {first.policy.priority}, before {second.policy.priority} of {second.ref}"
    if first.specificity != second.specificity:
        return f"a more specific pattern than that of {second.ref}"
    return f"its name comes before that of {second.ref}"


def _pattern(match: Match, table: TableState) -> str:
    return next(
        pattern
        for pattern in match.policy.tables
        if best_match((pattern,), table.catalog_name, table.dataset) == match.specificity
    )
