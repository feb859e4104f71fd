"""What a run server loads before its first run, and whether the files are still what was loaded.

The files that a process has loaded, and whether they are still what was loaded. A run is to see the code
that is on disk when it starts: an edited program, an upgraded package. Programs are not loaded before a
run; for what is, a run server looks at the files before each run, and leaves the place to a new server when
one has changed. The project's own modules are not among what is loaded: each run imports those that are on
disk when it starts.
"""

import gc
import importlib
import os
import sys
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress

from tidegate.dagster_defs.internals.instance import InstanceRef
from tidegate.dagster_defs.internals.late_modules import IMPORTED_BY_RUNS
from tidegate.launcher.place import Place
from tidegate.spark_jobs.errors import SparkMissing, needs_spark


def loaded_files(besides: Collection[str] = ()) -> dict[str, int]:
    """Return the modules' files of this process, each with its time of modification in nanoseconds.

    Args:
        besides: files that are left out.
    """
    return {file: _modified(file) for file in module_files() if file not in besides}


def module_files() -> set[str]:
    """Return the files of the modules of this process."""
    return {file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}


def changed_file(files: Mapping[str, int]) -> str | None:
    """Return a file that has changed since, or is gone; None if all are what they were."""
    return next((file for file, modified in files.items() if _modified(file) != modified), None)


def _modified(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns  # noqa: PTH116 - a `Path` for each takes ten times as long
    except OSError:
        return -1


USED_BY_RUNS = (*IMPORTED_BY_RUNS, "sqlalchemy.dialects.sqlite")
"""What Dagster and SQLAlchemy import late."""

USED_WITH_SPARK = (
    "pyspark.sql",
    "tidegate.spark_jobs.runner",
    "tidegate.dagster_defs.maintenance.measuring",
    "tidegate.dagster_defs.maintenance.operation_run",
)
"""What runs import where Spark is installed; a code location works without."""


def preload(place: Place) -> None:
    """Load what every run of a place needs."""
    for name in (*USED_BY_RUNS, *place.config.preload):
        importlib.import_module(name)
    with suppress(SparkMissing), needs_spark():
        for name in USED_WITH_SPARK:
            importlib.import_module(name)
    if place.module.startswith("tidegate."):
        importlib.import_module(place.module)
    gc.collect()
    # What is loaded is never garbage; a collection in a run would copy its pages.
    gc.freeze()
    if threading.active_count() > 1:
        names = ", ".join(thread.name for thread in threading.enumerate()[1:])
        print(
            f"warning: a preloaded module has started threads, which no run inherits: {names}",
            file=sys.stderr,
        )


def preload_instance(reference: InstanceRef) -> None:
    """Import the modules of an instance's storages and the like."""
    for part in reference:
        module = getattr(part, "module_name", None)
        if module:
            importlib.import_module(module)
