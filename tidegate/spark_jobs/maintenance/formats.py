"""The registry of the formats whose tables are maintained, one line each."""

from collections.abc import Mapping

from tidegate.spark_jobs.maintenance.iceberg.format import MaintainedIceberg
from tidegate.spark_jobs.maintenance.parquet.format import MaintainedParquet
from tidegate.spark_jobs.maintenance.progress import MaintenanceRefused
from tidegate.spark_jobs.maintenance.request import TableTarget
from tidegate.spark_jobs.maintenance.table_format import MaintainedFormat

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
