"""Rank: which policy counts for each operation on a table (docs/maintenance.md, "Which policy")."""

from collections.abc import Iterator, Mapping, Sequence

from tidegate.domain.maintenance.pattern import Specificity, best_match
from tidegate.domain.model import HealthRules, Operation, OperationPlan, Policy
from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import TableState

DEFAULT_HEALTH = HealthRules()


class Match(Value, kw_only=True):
    """A policy that matches a table.

    Attributes:
        ref: "app/policy".
        specificity: of the pattern that matches best.
    """

    ref: str
    policy: Policy
    specificity: Specificity

    def plan(self, operation: Operation) -> OperationPlan | None:
        """Return what the policy says of an operation; None if it does not configure it."""
        plan = self.policy.operations.get(operation)
        return plan if plan is not None and plan.enabled else None


def matches(policies: Mapping[str, Policy], table: TableState) -> tuple[Match, ...]:
    """Return the enabled policies that match a table; the one that counts first is first.

    Args:
        policies: by "app/policy".
    """
    found = list(_matching(policies, table))
    found.sort(key=lambda each: (each.policy.name, each.ref))
    found.sort(key=lambda each: (each.policy.priority, each.specificity), reverse=True)
    return tuple(found)


def _matching(policies: Mapping[str, Policy], table: TableState) -> Iterator[Match]:
    for ref, policy in policies.items():
        if not policy.enabled:
            continue
        specificity = best_match(policy.tables, table.catalog_name, table.dataset)
        if specificity is not None:
            yield Match(ref=ref, policy=policy, specificity=specificity)


def counting(found: Sequence[Match]) -> dict[Operation, Match]:
    """Return the policy that counts for each operation that any of these ranked ones configures."""
    return {
        operation: next(match for match in found if match.plan(operation) is not None)
        for operation in Operation
        if any(match.plan(operation) is not None for match in found)
    }


def ruling(found: Sequence[Match]) -> Match | None:
    """Return the first ranked policy that has rules of health; None if the defaults count."""
    return next((each for each in found if each.policy.health is not None), None)
