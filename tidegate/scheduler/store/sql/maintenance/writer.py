"""The writer of maintenance in SQL."""

from collections.abc import Sequence

from tidegate.scheduler.model.maintenance import OperationRun, Record, TableState
from tidegate.scheduler.store.sql.maintenance.rows import OPERATION_RUNS, RECORD_KEY, RECORDS, TABLES
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.queries import Changes


class MaintenanceWriter(Changes):
    def put_tables(self, tables: Sequence[TableState]) -> None:
        self._put(TABLES, tables)

    def put_records(self, records: Sequence[Record]) -> None:
        self._put(RECORDS, records)

    def delete_records(self, records: Sequence[Record]) -> None:
        keys = [(record.policy, str(record.operation), record.table) for record in records]
        bulk.delete(self._connection, RECORDS.table, RECORD_KEY, keys)

    def put_operation_runs(self, runs: Sequence[OperationRun]) -> None:
        self._put(OPERATION_RUNS, runs)
