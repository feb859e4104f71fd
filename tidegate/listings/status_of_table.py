"""One table with its operations, as `tidegate maintenance status --format json` and the server show it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType

from tidegate.domain.value import Value
from tidegate.listings.listing import Instant
from tidegate.listings.queries.tables import public_table
from tidegate.listings.tables import TableFacts
from tidegate.scheduler.decision.maintenance.health import ConditionsChecked
from tidegate.scheduler.explain.measured import Measured, measured
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.model.maintenance import OperationRun, TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.policies import load_policies


class Condition(Value, kw_only=True):
    """A condition of an operation: a threshold, `at_latest` or `min_interval`.

    Attributes:
        condition: the measure of a threshold, or the name of the other.
        at_least: the threshold.
        value: what was measured; null for what is unknown.
        since: when `at_latest` has forced it.
        until: when `min_interval` ends.
    """

    condition: str
    at_least: float | UnsetType = UNSET
    value: float | UnsetType | None = UNSET
    since: Instant | UnsetType | None = UNSET
    until: Instant | UnsetType = UNSET


class OperationOnTable(OperationStatus, kw_only=True):
    """One operation on one table, as it is at an instant.

    Attributes:
        should_trigger: whether a poll would start it now.
        met: the conditions that hold.
        unmet: the conditions that do not.
        next_eligible: when it may run next.
    """

    should_trigger: bool
    met: tuple[Condition, ...]
    unmet: tuple[Condition, ...]
    next_eligible: Instant | None


class ShownTable(TableFacts, kw_only=True):
    """A table with its operations.

    Attributes:
        running: the run of the operation that runs, if one does.
        operations: each that a policy configures.
    """

    running: tuple[OperationRun, ...]
    operations: tuple[OperationOnTable, ...]


class TableStatus(Value, kw_only=True):
    """A table with its operations at an instant.

    Attributes:
        running: the run of the operation that runs, if one does.
        poll: the next poll.
    """

    known: Measured
    running: tuple[OperationRun, ...]
    operations: tuple[OperationStatus, ...]
    poll: datetime


def table_status(reader: EngineReader, table: TableState, now: datetime) -> TableStatus:
    """Return a table with its health, its debt and the status of each of its operations."""
    policies = load_policies(reader, now)
    return TableStatus(
        known=measured(policies, table, now),
        running=reader.operation_runs(tables=(table.name,), running=True),
        operations=operation_status(reader, table, policies, now),
        poll=policies.poll_from(now),
    )


def shown_table(status: TableStatus) -> ShownTable:
    """Return the status of a table: its health and debt, and for each operation whether it would run now."""
    table = _fields(public_table(status.known))
    del table["rank"]
    operations = tuple(
        OperationOnTable(
            **_fields(each),
            should_trigger=each.would_run,
            met=tuple(_met(each.conditions)),
            unmet=tuple(_unmet(each.conditions)),
            next_eligible=status.poll if each.would_run else each.next,
        )
        for each in status.operations
    )
    return ShownTable(**table, running=tuple(status.running), operations=operations)


def _fields(value: Value) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


def _met(found: ConditionsChecked) -> Iterator[Condition]:
    yield from _thresholds(found, met=True)
    if found.forced:
        yield Condition(condition="at_latest", since=found.forced_at)


def _unmet(found: ConditionsChecked) -> Iterator[Condition]:
    yield from _thresholds(found, met=False)
    if found.interval_until is not None:
        yield Condition(condition="min_interval", until=found.interval_until)


def _thresholds(found: ConditionsChecked, *, met: bool) -> Iterator[Condition]:
    """Yield the thresholds that are met, or those that are not."""
    for each in found.thresholds:
        if each.met is met:
            threshold = each.threshold
            yield Condition(condition=threshold.measure, at_least=threshold.at_least, value=each.value)
