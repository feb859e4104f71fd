"""What `tidegate doctor` finds of Spark: what is installed here, and whether the masters of runs answer.

No session is started. What a cluster itself has, Spark and Python of its executors, is compared when the
session of a run begins (`spark_jobs.session.executors`).
"""

import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidegate.cli.operate.health.findings import Finding, Health

if TYPE_CHECKING:
    from tidegate.project.settings.settings import Settings


def spark_findings(settings: "Settings") -> Iterator[Finding]:
    """Yield findings for Spark, for Iceberg that is of another Spark, and for masters that are not local."""
    yield _installed(settings)
    yield from _of_another(settings)
    clusters = {f"[spark.clusters.{name}]": each.master for name, each in settings.spark_clusters.items()}
    masters: dict[str, list[str]] = {}
    for section, master in {"[spark]": settings.spark_master, **clusters}.items():
        masters.setdefault(master or settings.spark_master, []).append(section)
    for master, sections in masters.items():
        if not master.startswith("local"):
            yield _master(master, f"Spark master of {', '.join(sections)}")


def _installed(settings: "Settings") -> Finding:
    from tidegate.spark_jobs.errors import INSTALL_SPARK, JavaNotFound
    from tidegate.spark_jobs.iceberg.catalog.runtime import installed_spark, is_present, runtime_jar
    from tidegate.spark_jobs.session.java import java_home

    spark = installed_spark()
    if spark is None:
        remedy = f"where programs run, {INSTALL_SPARK}"
        return Finding(part="Spark", health=Health.NOTE, text="not installed here", remedy=remedy)
    versions = f"{spark.version} with Scala {spark.scala}, Python {platform.python_version()}"
    try:
        java = java_home()
    except JavaNotFound as error:
        return Finding(part="Spark", health=Health.WRONG, text=error.message, remedy=error.hint)
    if not is_present(settings.iceberg_packages, settings.spark_conf):
        iceberg = "without Iceberg"
    elif settings.iceberg_packages:
        iceberg = f"Iceberg of {settings.iceberg_packages}"
    else:
        jar = runtime_jar()
        iceberg = f"Iceberg of {'[spark.conf]' if jar is None else jar.name}"
    return Finding(part="Spark", health=Health.OK, text=f"{versions}, Java in {java}, {iceberg}")


def _of_another(settings: "Settings") -> Iterator[Finding]:
    from tidegate.spark_jobs.iceberg.catalog.runtime import is_present, made_for_another

    given = settings.iceberg_packages, settings.spark_conf
    if not is_present(*given) and (made := made_for_another(*given)):
        yield Finding(
            part="Iceberg",
            health=Health.NOTE,
            text=f"its runtime is for {made}, and counts as absent",
            remedy="for datasets of `format: iceberg` set `packages` of [iceberg] to a runtime of the"
            " installed Spark, or install that Spark",
        )


def _master(master: str, part: str) -> Finding:
    from tidegate.spark_jobs.session.masters import REMEDY, addresses, problem_of

    if not addresses(master):
        text = f"{master}: asked by Spark only, when a run begins"
        remedy = "a run of one of its programs shows whether it works"
        return Finding(part=part, health=Health.NOTE, text=text, remedy=remedy)
    problem = problem_of(master)
    if problem is None:
        return Finding(part=part, health=Health.OK, text=f"{master} answers")
    return Finding(
        part=part, health=Health.WRONG, text=f"{master} does not answer ({problem})", remedy=REMEDY
    )
