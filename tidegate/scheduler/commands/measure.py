"""Measure: ask for a new measurement of a table. A run in Dagster makes it, as it does for polls."""

from datetime import datetime

import msgspec

from tidegate.scheduler.model.maintenance import TableState
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.store.protocol import EngineTransaction


def ask_for_health(transaction: EngineTransaction, table: TableState, now: datetime) -> None:
    """Note that a table is to be measured; what was measured before counts until then.

    Raises:
        MaintenanceRefused: E-POLICY, no policy counts for the table: the project of a policy measures.
    """
    if not any(record.counts for record in transaction.records(tables=(table.name,))):
        raise MaintenanceRefused(
            "E-POLICY",
            f"no enabled policy configures an operation for table {table.name}, so it is not measured",
            "`tidegate maintenance explain TABLE` shows the policies of a table",
        )
    if table.wanted_at is None:
        transaction.put_tables([msgspec.structs.replace(table, wanted_at=now)])
