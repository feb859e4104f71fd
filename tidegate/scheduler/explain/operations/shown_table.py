"""A table and its operations as builtin values, for the command line and the server."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.conditions import ConditionsChecked
from tidegate.scheduler.explain.measured import Measured, measured
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.model.maintenance import OperationRun, TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.policies import load_policies


def table_json(known: Measured) -> dict[str, Any]:
    """Return a table with its health and debt."""
    table, health = known.table, known.health
    return {
        "table": table.name,
        "catalog_name": table.catalog_name or None,
        "dataset": table.dataset,
        "health": None if health is None else msgspec.to_builtins(health),
        "age_seconds": None if known.age is None else known.age.total_seconds(),
        "usable": known.usable,
        "measurement_asked_for": table.wanted_at,
        "debt": msgspec.to_builtins(known.debt),
        "failures_in_a_row": table.history.failures,
        "health_policy": table.health_policy,
    }


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


def status_json(status: TableStatus) -> dict[str, Any]:
    """Return the status of a table: its health and debt, and for each operation whether it would run now."""
    operations = [
        {
            **msgspec.to_builtins(each),
            "should_trigger": each.would_run,
            "met": list(_met(each.conditions)),
            "unmet": list(_unmet(each.conditions)),
            "next_eligible": status.poll if each.would_run else each.next,
        }
        for each in status.operations
    ]
    return {**table_json(status.known), "running": list(status.running), "operations": operations}


def _met(found: ConditionsChecked) -> Iterator[dict[str, Any]]:
    yield from _thresholds(found, met=True)
    if found.forced:
        yield {"condition": "at_latest", "since": found.forced_at}


def _unmet(found: ConditionsChecked) -> Iterator[dict[str, Any]]:
    yield from _thresholds(found, met=False)
    if found.interval_until is not None:
        yield {"condition": "min_interval", "until": found.interval_until}


def _thresholds(found: ConditionsChecked, *, met: bool) -> Iterator[dict[str, Any]]:
    """Yield the thresholds that are met, or those that are not; `value` is None where it is unknown."""
    for each in found.thresholds:
        if each.met is met:
            threshold = each.threshold
            yield {"condition": threshold.measure, "at_least": threshold.at_least, "value": each.value}
