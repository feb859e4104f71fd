"""Policies: what the deployed apps say of maintenance, loaded from the store, and the grid of its polls."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from tidegate.domain.model import App, HealthRules, Maintenance, Operation, OperationPlan, Policy
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.rank import DEFAULT_HEALTH
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import Record, TableState
from tidegate.scheduler.store.engine_rows import RecordRows

POLLS = "maintenance"
"""Name of the cursor that holds the first poll and the last one, in ISO 8601."""


class PolicyRows(RecordRows, Protocol):
    """What of a store says which policies are deployed, and when it polls."""

    def cursor(self, name: str) -> Any: ...


class Policies(Value, kw_only=True):
    """The deployed policies, and when polls are.

    Attributes:
        policies: by "app/policy".
        apps: the deployed apps by name, without schedules.
        origin: the first poll; every other one is a whole multiple of `settings.poll` later.
        last: the last poll so far; None before the first one.
    """

    policies: Mapping[str, Policy]
    apps: Mapping[str, App]
    settings: Maintenance
    origin: datetime
    last: datetime | None = None

    def plan(self, policy: str, operation: Operation) -> OperationPlan | None:
        """Return what an enabled policy says of an operation; None if it does not configure it."""
        found = self.policies.get(policy)
        plan = None if found is None or not found.enabled else found.operations.get(operation)
        return plan if plan is not None and plan.enabled else None

    def plan_of(self, record: Record) -> OperationPlan:
        """Return what its policy says of a record's operation; there is a record only while it does."""
        return self.policies[record.policy].operations[record.operation]

    def rules(self, table: TableState) -> HealthRules:
        """Return the rules of health of a table."""
        found = self.policies.get(table.health_policy or "")
        return DEFAULT_HEALTH if found is None or found.health is None else found.health

    def poll_from(self, instant: datetime) -> datetime:
        """Return the first poll at or after an instant that has not been yet."""
        poll = self.settings.poll
        found = times.poll_at_or_after(self.origin, poll, instant)
        if self.last is None or found > self.last:
            return found
        return times.poll_at_or_after(self.origin, poll, self.last + times.MICROSECOND)

    def poll_after(self, instant: datetime, now: datetime) -> datetime:
        """Return the first poll at or after an instant, but after this one at least."""
        return self.poll_from(max(instant, now + times.MICROSECOND))

    def budget_from(self, now: datetime) -> datetime:
        """Return the instant from which starts count in the budgets of polls."""
        return times.last_poll(self.origin, self.settings.poll, now)


def load_policies(rows: PolicyRows, now: datetime) -> Policies:
    """Return the deployed policies; in a store without a first poll that would be now."""
    return policies_of(rows, (deployed.app for deployed in rows.records(APPS)), now)


def policies_of(rows: PolicyRows, apps: Iterable[App], now: datetime) -> Policies:
    """Return the policies of some apps, with the polls of a store."""
    found = {app.name: app for app in apps}
    polls: dict[str, str] = rows.cursor(POLLS) or {}
    origin, last = polls.get("origin"), polls.get("last")
    return Policies(
        policies={
            f"{app.name}/{name}": policy for app in found.values() for name, policy in app.policies.items()
        },
        apps=found,
        settings=next(
            (found[name].maintenance or Maintenance() for name in sorted(found) if found[name].maintenance),
            Maintenance(),
        ),
        origin=now if origin is None else datetime.fromisoformat(origin),
        last=None if last is None else datetime.fromisoformat(last),
    )


def polls_noted(policies: Policies, last: datetime | None) -> dict[str, str]:
    """Return what the cursor of polls holds after a poll."""
    noted = {"origin": policies.origin.isoformat()}
    return noted if last is None else {**noted, "last": last.isoformat()}
