"""The registry of the formats whose tables are maintained, and the contract of one.

A format is a folder beside `parquet/` and `iceberg/` whose `format.py` implements `MaintainedFormat`, and
one line here. No other module of maintenance refers to a format by name.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.maintenance.iceberg.format import MaintainedIceberg
from tidegate.spark_jobs.maintenance.parquet.format import MaintainedParquet
from tidegate.spark_jobs.maintenance.progress import MaintenanceRefused, Progress
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


FORMATS: Mapping[str, MaintainedFormat] = {
    "parquet": MaintainedParquet(),
    "iceberg": MaintainedIceberg(),
}


def maintained_format(table: TableTarget) -> MaintainedFormat:
    """Return the format of a table.

    Raises:
        MaintenanceRefused: tables of its format are not maintained.
    """
    if table.format not in FORMATS:
        raise MaintenanceRefused(
            f"{table.name}: tables of the formats {' and '.join(FORMATS)} are maintained, got {table.format}",
            "leave it out of the policy",
        )
    return FORMATS[table.format]
