"""The Spark session of a project and its warehouse, from its settings.

Runs, commands and the code location all use this module, so that they agree on the master, the
properties, the Iceberg catalog and the file systems. This module does not start a session; the
warehouse starts one at the first access to a cluster's file system.
"""

from tidegate.project.settings.settings import Settings
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.files.all_files import AllFiles
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.session.session import SparkSettings, session


def spark_settings(settings: Settings) -> SparkSettings:
    """Return the Spark settings of a project."""
    return SparkSettings(
        master=settings.spark_master,
        conf=settings.spark_conf,
        clusters=settings.spark_clusters,
        history_url=settings.spark_history_url,
        project=settings.project,
        iceberg=IcebergSettings(
            warehouse=str(settings.warehouse),
            catalog=settings.iceberg_catalog,
            packages=settings.iceberg_packages,
        ),
    )


def warehouse(settings: Settings) -> Warehouse:
    """Return the warehouse of a project."""
    return Warehouse(path=settings.warehouse, project=settings.paths_from, files=files(settings))


def files(settings: Settings) -> AllFiles:
    """Return the file systems that a project may use."""
    spark = spark_settings(settings)
    return AllFiles(lambda: session(spark))
