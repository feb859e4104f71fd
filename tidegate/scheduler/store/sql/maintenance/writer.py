"""The writer of maintenance in SQL."""

from collections.abc import Sequence

from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.store.sql.maintenance.rows import OPERATION_RUNS
from tidegate.scheduler.store.sql.statements.queries import Changes


class MaintenanceWriter(Changes):
    def put_operation_runs(self, runs: Sequence[OperationRun]) -> None:
        self._put(OPERATION_RUNS, runs)
