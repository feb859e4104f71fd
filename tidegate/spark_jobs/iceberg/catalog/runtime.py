"""Iceberg in a Spark session: the source of its jar, and the catalog of our tables.

The runtime jar comes from an installed wheel, or Spark downloads it from Maven when
coordinates are set. Without either, a session starts without Iceberg, and
a dataset that needs it is an error. The catalog has Iceberg's type `hadoop` in the warehouse folder
unless the settings define another (catalog_options.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tidegate.spark_jobs.iceberg.catalog.options import with_defaults

CATALOG = "tidegate"
"""The name under which Spark knows the catalog, as in `SELECT * FROM tidegate.flights.delays`."""
RUNTIME_WHEEL = "snowpark_connect_deps_iceberg"
RUNTIME_NAME = "iceberg-spark-runtime"
JAR_PROPERTIES = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
"""The Spark properties that can bring the runtime."""
RUNTIME_JAR = "iceberg-spark-runtime-3.5_2.12-*.jar"
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


def runtime_jar() -> Path | None:
    """Return the runtime jar of the installed wheel; None without such a wheel."""
    wheel = find_spec(RUNTIME_WHEEL)
    if wheel is None or wheel.origin is None:
        return None
    return next(iter(sorted(Path(wheel.origin).parent.joinpath("jars").glob(RUNTIME_JAR))), None)


def is_present(packages: str, conf: Mapping[str, str]) -> bool:
    """Return whether a session of these settings has Iceberg.

    Args:
        packages: see `IcebergSettings.packages`.
        conf: Spark properties by name.
    """
    return bool(packages) or _brought(conf) or runtime_jar() is not None


def _brought(conf: Mapping[str, str]) -> bool:
    """Return whether Spark properties bring an Iceberg runtime of their own."""
    return any(RUNTIME_NAME in conf.get(name, "") for name in JAR_PROPERTIES)


def iceberg_conf(settings: IcebergSettings, master: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the Spark properties that add Iceberg to a session; none when it is not available.

    Args:
        conf: the properties so far; the result extends the lists in them.
    """
    # Not at the top: the settings of a project ask this module what is present, and start no session.
    from tidegate.domain.spark_conf import is_one_process

    if not is_present(settings.packages, conf):
        return {}
    prefix = f"spark.sql.catalog.{CATALOG}"
    options = with_defaults(settings.catalog, settings.warehouse)
    found = {f"{prefix}.{name}": value for name, value in options.items()}
    found[prefix] = "org.apache.iceberg.spark.SparkCatalog"
    found["spark.sql.extensions"] = _joined(conf, "spark.sql.extensions", EXTENSIONS, ",")
    if settings.packages:
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
