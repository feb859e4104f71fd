"""Iceberg in a Spark session: the source of its jar, and the catalog of our tables.

The runtime jar comes from an installed wheel, or Spark downloads it from Maven when coordinates are set. A
runtime is made for one version of Spark and of Scala, which its name says: one of another version counts as
absent. Without one, a session starts without Iceberg, and a dataset that needs it is an error. The catalog
has Iceberg's type `hadoop` in the warehouse folder unless the settings define another (catalog_options.py).
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tidegate.domain.model.dataset import CATALOG
from tidegate.domain.value import Value
from tidegate.spark_jobs.iceberg.catalog.options import with_defaults

RUNTIME_WHEEL = "snowpark_connect_deps_iceberg"
RUNTIME_NAME = "iceberg-spark-runtime"
JAR_PROPERTIES = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
"""The Spark properties that can bring the runtime."""
_VERSIONS = re.compile(rf"{RUNTIME_NAME}-(?P<spark>\d+\.\d+)_(?P<scala>\d+\.\d+)")
"""The versions for which a runtime is made, in the name of its jar and in its coordinates."""
_CORE = re.compile(r"spark-core_(?P<scala>\d+\.\d+)-(?P<version>\d+\.\d+\.[\w.-]+)\.jar")
MADE_FOR = "spark.tidegate.iceberg.madeFor"
"""The property by which a session without a runtime says that there is one for another Spark."""
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


@dataclass(frozen=True, kw_only=True, slots=True)
class IcebergSettings:
    """The settings of Iceberg.

    Attributes:
        warehouse: absolute folder or URL of the tables, unless `catalog` sets another.
        catalog: Iceberg's options of the catalog, for example {"type": "rest", "uri": "…"}.
        packages: Maven coordinates of the runtime; empty for the jar of the installed wheel.
    """

    warehouse: str
    catalog: Mapping[str, str] = field(default_factory=dict[str, str])
    packages: str = ""


class InstalledSpark(Value, kw_only=True):
    """A Spark.

    Attributes:
        version: "3.5.9".
        scala: "2.12".
    """

    version: str
    scala: str

    @property
    def minor(self) -> str:
        """The first two numbers of its version."""
        return ".".join(self.version.split(".")[:2])

    @property
    def numbers(self) -> tuple[int, int]:
        """The same as numbers, which compare."""
        major, minor = self.minor.split(".")
        return int(major), int(minor)


def installed_spark() -> InstalledSpark | None:
    """Return the Spark that a session would start; None without one, or one that does not say its version.

    PySpark starts the Spark in SPARK_HOME, else the one that it brings. Both have a jar whose name says the
    versions of Scala and Spark, so nothing is loaded or run.
    """
    home = os.environ.get("SPARK_HOME")
    found = find_spec("pyspark")
    if not home and (found is None or found.origin is None):
        return None
    jars = Path(home) / "jars" if home else Path(str(found and found.origin)).parent / "jars"
    names = [found for jar in jars.glob("spark-core_*.jar") if (found := _CORE.fullmatch(jar.name))]
    return InstalledSpark(version=names[0]["version"], scala=names[0]["scala"]) if names else None


def runtime_jar() -> Path | None:
    """Return the jar of the installed wheel for the Spark of this machine; None without such a jar."""
    return next((jar for jar in _jars_of_the_wheel() if _fits(jar.name)), None)


def _jars_of_the_wheel() -> list[Path]:
    wheel = find_spec(RUNTIME_WHEEL)
    if wheel is None or wheel.origin is None:
        return []
    return sorted(Path(wheel.origin).parent.joinpath("jars").glob(f"{RUNTIME_NAME}-*.jar"))


def _fits(name: str) -> bool:
    """Return whether a runtime is for the Spark of this machine; one whose name has no versions counts so."""
    made, spark = _VERSIONS.search(name), installed_spark()
    return made is None or spark is None or (made["spark"], made["scala"]) == (spark.minor, spark.scala)


def made_for_another(packages: str, conf: Mapping[str, str]) -> str | None:
    """Return for which Spark a runtime is that this one cannot use, as "Spark 3.5 with Scala 2.12"."""
    names = (*packages.split(","), *_names(conf), *(jar.name for jar in _jars_of_the_wheel()))
    made = next((found for name in names if not _fits(name) and (found := _VERSIONS.search(name))), None)
    return None if made is None else f"Spark {made['spark']} with Scala {made['scala']}"


def is_present(packages: str, conf: Mapping[str, str]) -> bool:
    """Return whether a session of these settings has Iceberg.

    Args:
        packages: see `IcebergSettings.packages`.
        conf: Spark properties by name.
    """
    return _is_given(packages) or _brought(conf) or runtime_jar() is not None


def _is_given(packages: str) -> bool:
    """Return whether coordinates bring a runtime for the Spark of this machine."""
    return bool(packages) and all(_fits(name) for name in packages.split(","))


def _brought(conf: Mapping[str, str]) -> bool:
    """Return whether Spark properties bring an Iceberg runtime of their own."""
    return any(_fits(name) for name in _names(conf))


def _names(conf: Mapping[str, str]) -> Iterator[str]:
    """Yield what Spark properties name of Iceberg's runtimes."""
    for name in JAR_PROPERTIES:
        yield from (each for each in re.split("[,:]", conf.get(name, "")) if RUNTIME_NAME in each)


def iceberg_conf(settings: IcebergSettings, master: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the Spark properties that add Iceberg to a session; at most `MADE_FOR` without a runtime.

    Args:
        conf: the properties so far; the result extends the lists in them.
    """
    # Not at the top: the settings of a project ask this module what is present, and start no session.
    from tidegate.domain.spark_conf import is_one_process

    if not is_present(settings.packages, conf):
        made = made_for_another(settings.packages, conf)
        return {} if made is None else {MADE_FOR: made}
    prefix = f"spark.sql.catalog.{CATALOG}"
    options = with_defaults(settings.catalog, settings.warehouse)
    found = {f"{prefix}.{name}": value for name, value in options.items()}
    found[prefix] = "org.apache.iceberg.spark.SparkCatalog"
    found["spark.sql.extensions"] = _joined(conf, "spark.sql.extensions", EXTENSIONS, ",")
    if _is_given(settings.packages):
        found["spark.jars.packages"] = _joined(conf, "spark.jars.packages", settings.packages, ",")
    elif _brought(conf):
        # Two runtimes in one session clash, so the installed one stays out.
        pass
    elif is_one_process(master):
        # The jar need not be copied.
        found["spark.driver.extraClassPath"] = _joined(
            conf, "spark.driver.extraClassPath", str(runtime_jar()), ":"
        )
    else:
        found["spark.jars"] = _joined(conf, "spark.jars", str(runtime_jar()), ",")
    return found


def _joined(conf: Mapping[str, str], name: str, value: str, separator: str) -> str:
    return separator.join(part for part in (conf.get(name, ""), value) if part)
