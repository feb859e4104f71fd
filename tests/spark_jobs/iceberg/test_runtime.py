"""Which Spark properties bring Iceberg into a session."""

from pathlib import Path

import pytest

from tidegate.spark_jobs.iceberg.catalog import runtime as iceberg_runtime
from tidegate.spark_jobs.iceberg.catalog.options import catalog_fault, with_defaults
from tidegate.spark_jobs.iceberg.catalog.runtime import EXTENSIONS, IcebergSettings, iceberg_conf

JAR = Path("/wheel/iceberg-spark-runtime.jar")
CATALOG = "spark.sql.catalog.tidegate"
DEFAULT = {
    CATALOG: "org.apache.iceberg.spark.SparkCatalog",
    f"{CATALOG}.type": "hadoop",
    f"{CATALOG}.warehouse": "/lake",
    f"{CATALOG}.cache-enabled": "false",
    "spark.sql.extensions": EXTENSIONS,
}


@pytest.fixture(autouse=True)
def wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iceberg_runtime, "runtime_jar", lambda: JAR)


@pytest.mark.parametrize(
    ("master", "property"),
    [
        ("local", "spark.driver.extraClassPath"),
        ("local[*]", "spark.driver.extraClassPath"),
        ("local-cluster[2,1,1024]", "spark.jars"),
        ("spark://host:7077", "spark.jars"),
        ("yarn", "spark.jars"),
    ],
)
def test_the_wheels_jar_goes_to_whoever_executes(master: str, property: str) -> None:
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), master, {}) == {**DEFAULT, property: str(JAR)}


def test_lists_of_the_settings_are_added_to() -> None:
    given = {"spark.jars": "a.jar,b.jar", "spark.sql.extensions": "x.Y"}
    found = iceberg_conf(IcebergSettings(warehouse="/lake"), "yarn", given)
    assert found["spark.jars"] == f"a.jar,b.jar,{JAR}"
    assert found["spark.sql.extensions"] == f"x.Y,{EXTENSIONS}"


@pytest.mark.parametrize("kind", [{"type": "rest"}, {"catalog-impl": "org.x.Catalog"}])
def test_maven_and_another_catalog_by_setting(kind: dict[str, str]) -> None:
    settings = IcebergSettings(warehouse="/lake", packages="g:a:1", catalog={**kind, "warehouse": "s3://b"})
    found = iceberg_conf(settings, "local[1]", {})
    assert found["spark.jars.packages"] == "g:a:1"
    assert "spark.driver.extraClassPath" not in found
    assert found[f"{CATALOG}.warehouse"] == "s3://b"
    assert kind.items() <= {name.removeprefix(f"{CATALOG}."): value for name, value in found.items()}.items()


@pytest.mark.parametrize(
    ("catalog", "becomes"),
    [
        ({}, {"type": "hadoop", "warehouse": "/lake"}),
        ({"type": "Hive"}, {"type": "hive", "warehouse": "/lake"}),
        # Named by its class it is the same catalog, and needs the same care.
        (
            {"catalog-impl": "org.apache.iceberg.hadoop.HadoopCatalog"},
            {"type": "hadoop", "warehouse": "/lake"},
        ),
        ({"catalog-impl": "x.Own"}, {"catalog-impl": "x.Own", "warehouse": "/lake"}),
        # What a REST server calls a warehouse is not a place.
        ({"type": "rest", "uri": "http://h"}, {"type": "rest", "uri": "http://h"}),
        ({"type": "jdbc", "uri": "jdbc:x:"}, {"type": "jdbc", "uri": "jdbc:x:", "warehouse": "/lake"}),
    ],
)
def test_options_are_completed(catalog: dict[str, str], becomes: dict[str, str]) -> None:
    assert with_defaults(catalog, "/lake") == {**becomes, "cache-enabled": "false"}
    assert catalog_fault(catalog, "/lake") is None


def test_without_a_runtime_there_is_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iceberg_runtime, "runtime_jar", lambda: None)
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), "local[1]", {}) == {}


def test_a_runtime_in_the_properties_of_spark_is_the_only_one() -> None:
    """The fixture says that the wheel is installed too; two runtimes in one session clash."""
    given = {"spark.jars": "/opt/iceberg-spark-runtime-3.5_2.12-1.10.2.jar"}
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), "local[1]", given) == DEFAULT
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), "yarn", given) == DEFAULT
