"""Parquet tables in maintenance; see `maintenance.table_format.MaintainedFormat` for each method."""

from collections.abc import Callable, Mapping
from datetime import datetime

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules, Operation
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.maintenance.parquet.compaction import compact
from tidegate.spark_jobs.maintenance.parquet.expire_versions import expire_versions
from tidegate.spark_jobs.maintenance.parquet.health import measure_parquet
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest
from tidegate.spark_jobs.maintenance.target import TableTarget

OPERATIONS: Mapping[Operation, Callable[[OperationRequest, MaintenanceContext, Progress], None]] = {
    Operation.REWRITE_DATA_FILES: compact,
    Operation.EXPIRE_SNAPSHOTS: expire_versions,
}
"""What carries out the operations that Parquet tables need."""

NOTHING_TO_DO: Mapping[Operation, str] = {
    Operation.REWRITE_MANIFESTS: "a Parquet table has no manifests",
    Operation.REMOVE_ORPHAN_FILES: (
        "the recovery of commits removes what dead runs have staged,"
        " and each publish the folders of no version"
    ),
}
"""Why there is nothing to do for the others."""


class MaintainedParquet:
    """Tables of datasets only: no catalog lists other ones."""

    needs_recovery = True

    def measure(
        self,
        spark: SparkSession,
        table: TableTarget,
        rules: HealthRules,
        now: datetime,
        warehouse: Warehouse | None,
    ) -> Health:
        assert warehouse is not None, f"{table.name} is in a warehouse"
        assert table.ref is not None, "only a dataset is in Parquet"
        return measure_parquet(table.ref, warehouse, rules, now)

    def run(self, context: MaintenanceContext, request: OperationRequest, progress: Progress) -> None:
        if request.operation in OPERATIONS:
            OPERATIONS[request.operation](request, context, progress)
        else:
            progress.not_applicable(NOTHING_TO_DO.get(request.operation, "a Parquet table has no need of it"))
