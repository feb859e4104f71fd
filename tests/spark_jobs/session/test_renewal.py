"""What one run leaves in a Spark that the next run of the same process uses."""

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidegate.spark_jobs.session import session
from tidegate.spark_jobs.session.renewal import Renewal

pytestmark = pytest.mark.spark


@pytest.fixture
def renewal(spark: SparkSession) -> Iterator[Renewal]:
    """The renewal of the session of all tests, which is put back."""
    found = Renewal()
    found.note(spark)
    yield found
    spark.catalog.dropTempView("left_view")  # sessions of programs begin as copies of this one
    session.started_hooks.clear()
    session.replace(spark)


def current() -> SparkSession:
    """The session of this process."""
    (found,) = session.sessions.values()
    return found


def test_nothing_of_a_session_is_left_to_the_next(spark: SparkSession, renewal: Renewal) -> None:
    frame = spark.range(3)
    frame.createOrReplaceTempView("left_view")
    frame.createOrReplaceGlobalTempView("left_global")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.catalog.cacheTable("left_view")
    kept = spark.sparkContext.parallelize([1]).persist()
    kept.count()
    spark.sparkContext.setLocalProperty("spark.job.description", "left")

    assert renewal.renew()

    after = current()
    assert after is not spark and after.sparkContext is spark.sparkContext
    assert SparkSession.Builder().getOrCreate() is after
    assert not after.catalog.tableExists("left_view")
    assert not after.catalog.tableExists("global_temp.left_global")
    assert after.conf.get("spark.sql.session.timeZone") == "UTC"
    java: Any = after
    assert java._jsparkSession.sharedState().cacheManager().isEmpty()
    assert java.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert after.sparkContext.getLocalProperty("spark.job.description") is None
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_what_cannot_be_undone_ends_the_process(spark: SparkSession, renewal: Renewal) -> None:
    java: Any = spark.sparkContext._jsc
    options = java.hadoopConfiguration()
    options.set("fs.left.behind", "1")
    assert not renewal.renew()
    options.unset("fs.left.behind")
    assert renewal.renew()

    current().sql("CREATE DATABASE left_behind")
    assert not renewal.renew()
    current().sql("DROP DATABASE left_behind")
    assert renewal.renew()


def test_a_program_gets_its_properties_and_the_next_one_does_not(
    spark: SparkSession, renewal: Renewal
) -> None:
    name = "spark.sql.shuffle.partitions"
    usual = spark.conf.get(name)
    with session.program_conf({name: "7"}):
        assert session.session(session.SparkSettings()).conf.get(name) == "7"

    assert renewal.renew()

    assert session.session(session.SparkSettings()).conf.get(name) == usual


def test_without_a_session_there_is_nothing_to_renew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "sessions", {})
    monkeypatch.setattr(session, "started_hooks", [])

    assert Renewal().renew()
