"""Measures the health of tables, one or many in one session. One broken table never spoils the others."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules
from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.java.jvm import failure_text, java_classes
from tidegate.spark_jobs.maintenance.formats import maintained_format
from tidegate.spark_jobs.maintenance.progress import TableGone
from tidegate.spark_jobs.maintenance.request import Gone, TableTarget

THREADS = 4
"""Tables measured at once. Most of the time they wait for catalogs and files."""

log = logging.getLogger(__name__)


class TableToMeasure(Value, kw_only=True):
    """A table to measure, by the rules of the policy that counts for its health."""

    table: TableTarget
    rules: HealthRules = HealthRules()


def measure(
    spark: SparkSession,
    table: TableTarget,
    rules: HealthRules,
    now: datetime,
    *,
    warehouse: Warehouse | None = None,
) -> Health | Gone:
    """Measure one table. What fails is in the result.

    Args:
        warehouse: of the datasets; needed for a Parquet table.

    Raises:
        SparkLost: the JVM has ended, so no table can be measured.
    """
    try:
        return maintained_format(table).measure(spark, table, rules, now, warehouse)
    except TableGone:
        return Gone(name=table.name)
    except Exception as error:
        if jvm.was_lost(error):
            raise SparkLost(f"the JVM of Spark has ended while {table.name} was measured") from error
        log.warning("could not measure %s: %s", table.name, error)
        return Health(measured_at=now, failure=failure_text(error))


def measure_many(
    spark: SparkSession,
    tables: Sequence[TableToMeasure],
    now: datetime,
    *,
    warehouse: Warehouse | None = None,
) -> dict[str, Health | Gone]:
    """Measure many tables in one session, by name; for errors see `measure`."""

    def one(wanted: TableToMeasure) -> Health | Gone:
        # Each thread of Python has a thread in the JVM, where catalogs look for the session.
        java_classes(spark).org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)
        return measure(spark, wanted.table, wanted.rules, now, warehouse=warehouse)

    if len(tables) == 1:
        return {tables[0].table.name: one(tables[0])}
    with ThreadPoolExecutor(THREADS) as pool:
        return {
            wanted.table.name: health for wanted, health in zip(tables, pool.map(one, tables), strict=True)
        }
