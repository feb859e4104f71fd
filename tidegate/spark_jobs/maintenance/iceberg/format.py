"""Iceberg tables in maintenance; see `maintenance.formats.MaintainedFormat` for each method."""

from collections.abc import Callable, Mapping
from datetime import datetime

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules, Operation
from tidegate.domain.model.dataset import CATALOG
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.expire_snapshots import expire_snapshots
from tidegate.spark_jobs.maintenance.iceberg.health import measure_iceberg
from tidegate.spark_jobs.maintenance.iceberg.remove_orphan_files import remove_orphan_files
from tidegate.spark_jobs.maintenance.iceberg.rewrite_data_files import rewrite_data_files
from tidegate.spark_jobs.maintenance.iceberg.rewrite_manifests import rewrite_manifests
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget

OPERATIONS: Mapping[
    Operation, Callable[[CatalogTable, OperationRequest, MaintenanceContext, Progress], None]
] = {
    Operation.REWRITE_DATA_FILES: rewrite_data_files,
    Operation.REWRITE_MANIFESTS: rewrite_manifests,
    Operation.EXPIRE_SNAPSHOTS: expire_snapshots,
    Operation.REMOVE_ORPHAN_FILES: remove_orphan_files,
}
"""What carries out each operation."""


def spark_name(table: TableTarget) -> str:
    """Return the name of a table in Spark, its parts joined by dots."""
    if table.catalog_name:
        return table.catalog_name
    return table.name if table.ref is None else ".".join((CATALOG, *table.ref.place))


class MaintainedIceberg:
    """Tables of datasets, and all others of Spark's catalogs."""

    needs_recovery = False

    def measure(
        self,
        spark: SparkSession,
        table: TableTarget,
        rules: HealthRules,
        now: datetime,
        warehouse: Warehouse | None,
    ) -> Health:
        return measure_iceberg(CatalogTable(spark, spark_name(table)), rules, now)

    def run(self, context: MaintenanceContext, request: OperationRequest, progress: Progress) -> None:
        table = CatalogTable(context.spark(), spark_name(request.table))
        # An operation before this one may have died with its commit.
        table.mend_version_hint()
        OPERATIONS[request.operation](table, request, context, progress)
