"""The demo's tables are read with the Spark session that the Spark tests share."""

from tests.spark_jobs.conftest import iceberg_warehouse as iceberg_warehouse
from tests.spark_jobs.conftest import spark as spark
