"""Which Spark properties bring Iceberg into a session."""

from pathlib import Path

import pyspark
import pytest

from tidegate.spark_jobs.iceberg.catalog import catalog
from tidegate.spark_jobs.iceberg.catalog import runtime as iceberg_runtime
from tidegate.spark_jobs.iceberg.catalog.options import catalog_fault, with_defaults
from tidegate.spark_jobs.iceberg.catalog.runtime import (
    EXTENSIONS,
    MADE_FOR,
    IcebergSettings,
    InstalledSpark,
    iceberg_conf,
    installed_spark,
    is_present,
)

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
    monkeypatch.undo()
    monkeypatch.setattr(iceberg_runtime, "find_spec", lambda _: None)
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), "local[1]", {}) == {}


def test_a_runtime_in_the_properties_of_spark_is_the_only_one() -> None:
    """The fixture says that the wheel is installed too; two runtimes in one session clash."""
    given = {"spark.jars": "/opt/iceberg-spark-runtime-3.5_2.12-1.10.2.jar"}
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), "local[1]", given) == DEFAULT
    assert iceberg_conf(IcebergSettings(warehouse="/lake"), "yarn", given) == DEFAULT


MAVEN = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2"
OF_ANOTHER = {
    "the wheel": ("", {}),
    "packages": (MAVEN, {}),
    "a jar": ("", {"spark.jars": "/opt/a.jar,/opt/iceberg-spark-runtime-3.5_2.12-1.10.2.jar"}),
    "the class path": ("", {"spark.driver.extraClassPath": "/a:/iceberg-spark-runtime-3.5_2.12-1.jar"}),
}


@pytest.mark.parametrize("how", OF_ANOTHER)
@pytest.mark.parametrize("spark", [("4.3.0", "2.13"), ("4.0.1", "2.12")])
def test_a_runtime_of_another_spark_or_scala_counts_as_absent(
    monkeypatch: pytest.MonkeyPatch, how: str, spark: tuple[str, str]
) -> None:
    monkeypatch.undo()
    version, scala = spark
    monkeypatch.setattr(
        iceberg_runtime, "installed_spark", lambda: InstalledSpark(version=version, scala=scala)
    )
    packages, conf = OF_ANOTHER[how]
    assert not is_present(packages, conf)
    found = iceberg_conf(IcebergSettings(warehouse="/lake", packages=packages), "yarn", conf)
    # The wheel has one for each Scala of Spark 3.5.
    assert found.keys() == {MADE_FOR}
    assert found[MADE_FOR].startswith("Spark 3.5 with Scala 2.1")
    # One that is for this Spark counts, whatever the wheel has.
    fitting = MAVEN.replace("3.5_2.12", f"{version[:3]}_{scala}")
    assert is_present(fitting, {})
    found = iceberg_conf(IcebergSettings(warehouse="/lake", packages=fitting), "yarn", conf)
    assert found["spark.jars.packages"] == fitting


def test_a_table_that_a_runtime_of_another_spark_cannot_open_is_refused_with_both_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(catalog, "installed_spark", lambda: InstalledSpark(version="4.3.0", scala="2.13"))

    refusal = catalog._no_runtime("Spark 3.5 with Scala 2.12")

    assert "needs a runtime for Spark 4.3 with Scala 2.13" in refusal.message
    assert "the one that is here is for Spark 3.5 with Scala 2.12" in refusal.message
    assert "iceberg-spark-runtime-4.3_2.13" in refusal.hint and "pip install 'pyspark<3.6'" in refusal.hint
    assert "install tidegate[iceberg]" in catalog._no_runtime(None).hint


def test_the_versions_of_spark_are_in_the_names_of_its_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = installed_spark()
    assert found is not None and found.version == pyspark.__version__
    (tmp_path / "jars").mkdir()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert installed_spark() is None
    (tmp_path / "jars/spark-core_2.13-4.1.0.jar").touch()
    assert installed_spark() == InstalledSpark(version="4.1.0", scala="2.13")
