"""Status: the operations on a table, each with its conditions, also while it is not due."""

from datetime import datetime

import msgspec

from tidegate.scheduler.decision.maintenance.conditions import check
from tidegate.scheduler.decision.maintenance.health import fresh
from tidegate.scheduler.explain.maintenance import OperationStatus, operation_status
from tidegate.scheduler.model.maintenance import Record, TableState
from tidegate.scheduler.store.protocol import Reader
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies


def statuses_of(reader: Reader, table: TableState, now: datetime) -> tuple[OperationStatus, ...]:
    """Return the status of all operations on a table, in the order in which they run."""
    policies = load_policies(reader, now)
    records = {record.operation: record for record in reader.records(tables=(table.name,)) if record.counts}
    return tuple(
        status if status.due else _with_conditions(status, policies, table, records[status.operation], now)
        for status in operation_status(reader, table.name, now)
    )


def _with_conditions(
    status: OperationStatus, policies: Policies, table: TableState, record: Record, now: datetime
) -> OperationStatus:
    plan = policies.plan(record.policy, record.operation)
    succeeded_at = table.history.of(record.operation).succeeded_at
    when = None if plan is None else plan.when
    checked = check(when, fresh(table.health, now), succeeded_at, record.seen_at, now)
    return msgspec.structs.replace(status, conditions=checked)
