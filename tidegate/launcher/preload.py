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
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from tidegate.dagster_defs.internals.instance import InstanceRef
from tidegate.dagster_defs.internals.late_modules import IMPORTED_BY_RUNS
from tidegate.domain.value import without_collection
from tidegate.launcher.place import Place
from tidegate.spark_jobs.errors import SparkMissing, needs_spark

PACKAGE = Path(__file__).parents[1]
INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
KNOWN = (*INSTALLED, PACKAGE)
"""The folders of modules that are installed, or ours."""

INSTALLED_SECONDS = 1.0
"""From one look at what is installed to the next, where no file was added to its folders or removed."""


class LoadedFiles:
    """The files of the modules that this process has loaded.

    To look at all before each run costs a twentieth of a trivial run: a thousand are installed, or ours. An
    upgrade replaces such files, so their folders change; one that is edited where it is counts within a
    second. The others are looked at each time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        files = loaded_files(sys.modules)
        places = tuple(f"{place}{os.sep}" for place in KNOWN)
        self._installed = {file: at for file, at in files.items() if file.startswith(places)}
        self._others = {file: at for file, at in files.items() if file not in self._installed}
        self._folders = {folder: _modified(folder) for folder in {*map(os.path.dirname, self._installed)}}
        self._clock = clock
        self._looked = clock()

    def changed(self) -> str | None:
        """Return a file that has changed since, or is gone; None if all are what they were."""
        if (found := changed_file(self._others)) is not None:
            return found
        now = self._clock()
        if now - self._looked < INSTALLED_SECONDS and changed_file(self._folders) is None:
            return None
        self._looked = now
        # Before the files: one that is replaced meanwhile changes its folder again.
        self._folders = {folder: _modified(folder) for folder in self._folders}
        return changed_file(self._installed)


def loaded_files(names: Iterable[str]) -> dict[str, int]:
    """Return the files of some modules of this process, each with its modification in nanoseconds."""
    modules = (sys.modules.get(name) for name in list(names))
    files = {file for module in modules if (file := getattr(module, "__file__", None))}
    return {file: _modified(file) for file in files}


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
    with without_collection():
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
