"""Parquet tables in maintenance; see `maintenance.table_format.MaintainedFormat` for each method."""

from datetime import datetime

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.health import Health
from tidegate.domain.model import HealthRules, Operation
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.maintenance.parquet.compaction import compact
from tidegate.spark_jobs.maintenance.parquet.expire_versions import expire_versions
from tidegate.spark_jobs.maintenance.parquet.health import measure_parquet
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest
from tidegate.spark_jobs.maintenance.target import TableTarget

NO_ORPHANS = (
    "the recovery of commits removes what dead runs have staged, and each publish the folders of no version"
)


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
        """See `MaintainedFormat.measure`."""
        assert warehouse is not None, f"{table.name} is in a warehouse"
        assert table.ref is not None, "only a dataset is in Parquet"
        return measure_parquet(table.ref, warehouse, rules, now)

    def run(self, context: MaintenanceContext, request: OperationRequest, progress: Progress) -> None:
        """See `MaintainedFormat.run`."""
        match request.operation:
            case Operation.REWRITE_DATA_FILES:
                compact(request, context, progress)
            case Operation.EXPIRE_SNAPSHOTS:
                expire_versions(request, context, progress)
            case Operation.REWRITE_MANIFESTS:
                progress.not_applicable("a Parquet table has no manifests")
            case Operation.REMOVE_ORPHAN_FILES:
                progress.not_applicable(NO_ORPHANS)
