"""The shared session: one a process, with the settings that the tables rely on."""

import pytest
from pyspark.sql import SparkSession

from tests.crashes.processes import in_child
from tidegate.domain.spark_conf import FIXED
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.session.session import SparkSettings, program_conf, session

pytestmark = pytest.mark.spark


def test_there_is_one_session_and_what_tables_rely_on_is_fixed(spark: SparkSession) -> None:
    assert session(SparkSettings(conf={"spark.sql.session.timeZone": "Asia/Tokyo"})) is spark
    assert FIXED["spark.files.ignoreMissingFiles"] == FIXED["spark.files.ignoreCorruptFiles"] == "false"
    for name, value in FIXED.items():
        if name.startswith("spark.sql."):
            assert spark.conf.get(name) == value
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == "TIMESTAMP_MICROS"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4"


def properties_apply_to_the_runs_of_a_program_alone(parent: str) -> None:
    """The first session is another one than that of the parent."""
    partitions, cores = "spark.sql.shuffle.partitions", "spark.default.parallelism"
    zone = "spark.sql.session.timeZone"
    settings = SparkSettings(master="local[1]", conf={partitions: "3"})
    with program_conf({partitions: "7", cores: "5", zone: "Asia/Tokyo"}):
        first = session(settings)
        spark_of_first = first.sparkContext.applicationId
        assert spark_of_first != parent
        assert session(settings) is first
        assert first.conf.get(partitions) == "7"
        assert first.sparkContext.defaultParallelism == 5
        assert first.conf.get(zone) == "UTC"
    with program_conf({cores: "5"}):
        second = session(settings)
        assert second.sparkContext.applicationId == spark_of_first
        assert second.conf.get(partitions) == "3"
    third = session(settings)
    assert third.sparkContext.applicationId != spark_of_first
    assert third.sparkContext.defaultParallelism == 1
    assert third.range(10).count() == 10
    third.stop()


def a_folder_as_warehouse_is_refused_where_spark_would_look_on_the_cluster() -> None:
    conf = {"spark.hadoop.fs.defaultFS": "hdfs://name:8020"}
    plain = SparkSettings(master="local[1]", conf=conf, iceberg=IcebergSettings(warehouse="/lake"))
    with pytest.raises(OutputError, match=r'path = "hdfs://name:8020/\.\.\.".*path = "file:///lake"'):
        session(plain)
    meant = IcebergSettings(warehouse="file:///lake")
    session(SparkSettings(master="local[1]", conf=conf, iceberg=meant)).stop()


def test_a_forked_child_gets_sessions_of_its_own_with_the_settings_of_each(spark: SparkSession) -> None:
    """All in one child, since each has to start a JVM."""
    parent = spark.sparkContext.applicationId

    def work() -> None:
        properties_apply_to_the_runs_of_a_program_alone(parent)
        a_folder_as_warehouse_is_refused_where_spark_would_look_on_the_cluster()

    assert in_child(work) == 0
    assert spark.range(10).count() == 10
