"""The executors of a session: whether they run what the driver runs.

Executors of another version than the driver fail late and in words of Java's serialization. So a job of one
task asks one of them for its versions when a session begins. Not for masters whose executor is the driver.
"""

import logging
import platform
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tidegate.spark_jobs.errors import ClusterRefused
from tidegate.spark_jobs.java.cause import innermost_cause
from tidegate.spark_jobs.session.executor_wait import NO_EXECUTOR, REMEDY

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import Column, SparkSession

log = logging.getLogger(__name__)

_SPARK_VERSION = "java_method('org.apache.spark.package', 'SPARK_VERSION')"
"""A static method: a task calls it where it runs. (`version()` is replaced by its value in the driver.)"""

_OTHER_PYTHON = re.compile(r"Python in worker has different version:? \(?'?([\d., ]+?)'?\)? than that in")
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
_OTHER_CLASSES = re.compile(r"java\.io\.InvalidClassException[^\n]*|java\.lang\.NoSuchMethodError[^\n]*")


def check_executors(spark: "SparkSession", master: str) -> None:
    """Compare the versions of an executor with those of the driver.

    An executor without Python passes: programs that use only DataFrames need none.

    Raises:
        ClusterRefused: another Spark or Python, whose major or minor version differs, or no task runs there.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as sf

    try:
        spark_there, python_there = _asked(spark, sf.udf(platform.python_version)())
    except (PySparkException, Py4JJavaError) as error:
        text = f"{error}\n{getattr(error, '_stackTrace', None) or ''}"
        missing = _NO_PYTHON.search(text)
        if missing is None:
            raise _refusal(text, spark.version, master) from error
        log.warning(
            "executors of %s have no Python at %s: Python functions will fail there; spark.pyspark.python"
            " names theirs",
            master,
            missing[1],
        )
        spark_there, python_there = _asked(spark, sf.lit(platform.python_version()))
    if _minor(spark_there) != _minor(spark.version):
        raise _other_spark(spark_there, spark.version, master)
    if _minor(python_there) != _minor(platform.python_version()):
        raise _other_python(python_there, master)


def link_of(spark: "SparkSession", history_url: str) -> str | None:
    """Return where a session is shown: by the history server, else by itself; None where it is not."""
    context = spark.sparkContext
    if history_url and context.getConf().get("spark.eventLog.enabled", "false") == "true":
        return f"{history_url}/history/{context.applicationId}"
    return context.uiWebUrl


def linked(
    start: "Callable[[], SparkSession]", history_url: str, note: Callable[[str], None]
) -> "Callable[[], SparkSession]":
    """Return a function that gives a session, and notes the link of each application once.

    Args:
        note: gets the address; nothing is noted where Spark shows nothing.
    """
    noted: list[SparkContext] = []

    def started() -> "SparkSession":
        spark = start()
        context = spark.sparkContext
        # Each question to the JVM takes its time, and a publish asks for the session many times.
        if not any(context is known for known in noted):
            noted.append(context)
            link = link_of(spark, history_url)
            if link is not None:
                note(link)
        return spark

    return started


def _asked(spark: "SparkSession", python: "Column") -> tuple[str, str]:
    from pyspark.sql import functions as sf

    (row,) = spark.range(0, 1, 1, 1).select(sf.expr(_SPARK_VERSION), python).collect()
    return str(row[0]), str(row[1])


def _refusal(text: str, version: str, master: str) -> ClusterRefused:
    """Return why no task ran, from the text of what Spark raised."""
    waited = text.find(NO_EXECUTOR)
    if waited >= 0:
        rule = text[waited + len(NO_EXECUTOR) :].split(":", 1)[0]
        return ClusterRefused(f"{master} has given no executor for {rule}", REMEDY)
    python, classes = _OTHER_PYTHON.search(text), _OTHER_CLASSES.search(text)
    if python is not None:
        return _other_python(".".join(re.findall(r"\d+", python[1])), master)
    if classes is not None:
        return _other_spark("", version, master, why=classes[0][:200])
    return ClusterRefused(
        f"no task runs on {master}: {(innermost_cause(text) or text.strip().splitlines()[0])[:300]}",
        "look at the logs of its executors; `tidegate docs spark` says what they need",
    )


def _other_spark(there: str, here: str, master: str, *, why: str = "") -> ClusterRefused:
    """Return the refusal of another Spark: its version, or `why` tasks show that it is another one."""
    named = f"Spark {there}" if there else f"another Spark ({why})"
    return ClusterRefused(
        f"the executors of {master} have {named}, and the driver has Spark {here}",
        f'install "pyspark=={there}" for the runs, or take executors of Spark {_minor(here)}'
        if there
        else f"take executors of Spark {_minor(here)}, or install their version of pyspark for the runs",
    )


def _other_python(there: str, master: str) -> ClusterRefused:
    here = platform.python_version()
    return ClusterRefused(
        f"the executors of {master} have Python {there}, and the driver has Python {here}",
        f"name a Python {_minor(here)} of the executors in spark.pyspark.python of [spark.conf], or run"
        f" Tidegate with Python {_minor(there)}",
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
