"""The Spark session of a project, from its settings.

Whatever needs a session takes it from here, so that a run, a command and the code location
agree on the master, the properties and the Iceberg catalog. No session is started here.
"""

from spark_jobs.iceberg_runtime import IcebergSettings
from spark_jobs.session import SparkSettings
from tidegate.settings import Settings


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
