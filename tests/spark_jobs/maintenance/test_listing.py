"""Lists the tables of catalogs of several kinds; what cannot be read hides nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.rest_catalog import RestCatalog
from tests.spark_jobs.maintenance.yard import Yard, activate
from tidegate.spark_jobs.maintenance.listing import Listing, iceberg_catalogs, list_tables

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of its own, for catalogs of its own."""
    found = spark.newSession()
    yield found
    activate(spark)


def add_catalog(session: SparkSession, name: str, kind: str = SPARK_CATALOG, **options: str) -> None:
    session.conf.set(f"spark.sql.catalog.{name}", kind)
    for option, value in options.items():
        session.conf.set(f"spark.sql.catalog.{name}.{option.replace('_', '-')}", value)


def test_tables_of_nested_namespaces(session: SparkSession, tmp_path: Path) -> None:
    add_catalog(session, "house", type="hadoop", warehouse=str(tmp_path))
    session.sql("CREATE TABLE house.a.t (id int) USING iceberg")
    session.sql("CREATE TABLE house.a.b.t (id int) USING iceberg")
    session.sql("CREATE TABLE house.a.b.c.`v.1` (id int) USING iceberg")
    session.sql("CREATE TABLE house._tidegate_staging.s1_1 (id int) USING iceberg")
    (tmp_path / "a" / "files" / "_data" / "day=1").mkdir(parents=True)
    listing = list_tables(session, ["house", "none"])
    assert listing.tables == ("house.a.b.t", "house.a.t")
    assert [failure.where for failure in listing.failures] == ["house.a.b.c.v.1", "none"]
    assert listing.complete == ()
    assert set(iceberg_catalogs(session)) == {"house", "tidegate"}


def test_a_namespace_that_cannot_be_read(session: SparkSession, tmp_path: Path) -> None:
    server = RestCatalog(session, str(tmp_path))
    try:
        add_catalog(session, "rest", type="rest", uri=server.uri)
        for space in ("one", "two"):
            (tmp_path / space).mkdir()
            session.sql(f"CREATE TABLE rest.{space}.t (id int) USING iceberg")
        assert list_tables(session, ["rest"]) == Listing(
            tables=("rest.one.t", "rest.two.t"), complete=("rest",)
        )
        answer = server.answer

        def broken(method: str, path: list[str], body: str) -> tuple[int, object]:
            if path == ["v1", "namespaces", "one", "tables"]:
                return 403, {"error": {"message": "broken", "type": "ForbiddenException", "code": 403}}
            return answer(method, path, body)

        server.answer = broken
        listing = list_tables(session, ["rest"])
    finally:
        server.close()
    assert (listing.tables, listing.complete) == (("rest.two.t",), ())
    assert [failure.where for failure in listing.failures] == ["rest.one"]
    assert "broken" in listing.failures[0].why


def test_only_iceberg_tables_of_the_session_catalog(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    kind = "org.apache.iceberg.spark.SparkSessionCatalog"
    add_catalog(session, "spark_catalog", kind, type="hadoop", warehouse=str(tmp_path / "iceberg"))
    spark.sql(f"CREATE DATABASE mixed LOCATION '{tmp_path}/mixed'")
    try:
        session.sql("CREATE TABLE spark_catalog.mixed.ours (id int) USING iceberg")
        # With Hive, its metastore has Iceberg tables too; here this line puts a name there.
        spark.sql("CREATE TABLE mixed.ours (id int) USING parquet")
        spark.sql("CREATE TABLE mixed.theirs (id int) USING parquet")
        spark.sql("CREATE VIEW mixed.seen AS SELECT 1 AS id")
        listing = list_tables(session, ["spark_catalog"])
        assert (listing.tables, listing.failures) == (("spark_catalog.mixed.ours",), ())
    finally:
        spark.sql("DROP DATABASE mixed CASCADE")


def test_what_is_no_iceberg_catalog(yard: Yard) -> None:
    yard.make()
    listing = list_tables(yard.spark, ["spark_catalog", "tidegate"])
    assert yard.full_name in listing.tables
    assert listing.complete == ("tidegate",)
    assert "is not an Iceberg catalog" in listing.failures[0].why
