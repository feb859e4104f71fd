"""The files that a process has loaded, and whether they are still what was loaded.

A run is to see the code that is on disk when it starts: an edited program, an upgraded package. Programs are
not loaded before a run; for what is, a run server looks at the files before each run, and leaves the place to
a new server when one has changed.
"""

import os
import sys
from collections.abc import Mapping


def loaded_files() -> dict[str, int]:
    """Return the modules' files of this process, each with its time of modification in nanoseconds."""
    files = {file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    return {file: _modified(file) for file in files}


def changed_file(files: Mapping[str, int]) -> str | None:
    """Return a file that has changed since, or is gone; None if all are what they were."""
    return next((file for file, modified in files.items() if _modified(file) != modified), None)


def _modified(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns  # noqa: PTH116 - a `Path` for each takes ten times as long
    except OSError:
        return -1
