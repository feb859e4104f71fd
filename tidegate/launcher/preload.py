"""What a run server loads before its first run, so that no run has to.

The project's own modules are not among it: each run imports those that are on disk when it starts.
"""

import gc
import importlib
import sys
import threading

from tidegate.dagster_defs.internals.instance import InstanceRef
from tidegate.dagster_defs.internals.late_modules import IMPORTED_BY_RUNS
from tidegate.launcher.place import Place

USED_BY_RUNS = (*IMPORTED_BY_RUNS, "pyspark.sql", "sqlalchemy.dialects.sqlite")
"""What Dagster and PySpark import late."""


def preload(place: Place) -> None:
    """Load what every run of a place needs."""
    for name in (*USED_BY_RUNS, *place.config.preload):
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
