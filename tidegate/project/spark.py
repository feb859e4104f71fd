"""The Spark session of a project and its warehouse, from its settings.

Whatever needs one of them takes it from here, so that a run, a command and the code location
agree on the master, the properties, the Iceberg catalog and the file systems. No session is
started here; the warehouse starts one when a place on a cluster is first touched.
"""

from tidegate.project.settings import Settings
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.files.all_files import AllFiles
from tidegate.spark_jobs.iceberg.runtime import IcebergSettings
from tidegate.spark_jobs.session.session import SparkSettings, session


def spark_settings(settings: Settings) -> SparkSettings:
    """How Spark is reached in a project."""
    return SparkSettings(
        master=settings.spark_master,
        conf=settings.spark_conf,
        iceberg=IcebergSettings(
            warehouse=str(settings.warehouse),
            catalog=settings.iceberg_catalog,
            packages=settings.iceberg_packages,
        ),
    )


def warehouse(settings: Settings) -> Warehouse:
    """Where a project keeps its tables."""
    return Warehouse(path=settings.warehouse, project=settings.paths_from, files=files(settings))


def files(settings: Settings) -> AllFiles:
    """Every file system that a project may name."""
    spark = spark_settings(settings)
    return AllFiles(lambda: session(spark))
