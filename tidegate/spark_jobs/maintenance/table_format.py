"""The contract of a table format whose tables are maintained.

A format is a folder beside `parquet/` and `iceberg/` whose `format.py` implements `MaintainedFormat`, and one
line in `formats.py`. No other module of maintenance refers to a format by name.
"""

from datetime import datetime
from typing import Protocol

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget


class MaintainedFormat(Protocol):
    """How tables of one format are measured, and how operations are carried out on them.

    Attributes:
        needs_recovery: whether the publishes that dead runs have left must be finished before an operation.
    """

    @property
    def needs_recovery(self) -> bool: ...

    def measure(
        self,
        spark: SparkSession,
        table: TableTarget,
        rules: HealthRules,
        now: datetime,
        warehouse: Warehouse | None,
    ) -> Health:
        """Measure a table as it is now.

        Args:
            warehouse: of the datasets; None where only tables of catalogs are maintained.

        Raises:
            TableGone: it does not exist.
        """
        ...

    def run(self, context: MaintenanceContext, request: OperationRequest, progress: Progress) -> None:
        """Carry out an operation, or record why there is nothing to do on such a table.

        Raises:
            TableGone: the table does not exist.
            LandedFiles: only programs outside Tidegate write it.
            TimedOut, Yielded: it must end before its work is done.
        """
        ...
