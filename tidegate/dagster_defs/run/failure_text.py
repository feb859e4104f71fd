"""What failed, in one line: the first line of an exception, with the file and the line that caused it.

    ValueError: no fares for day 2013-01-07 (programs/clean_fares.py:17)

Of a failure in Spark it is the innermost cause (`spark_jobs.java.cause`).

The place is the deepest one in code of the user's own: neither Tidegate, nor an installed package, nor
Python itself. Of a function that failed in a Python worker of Spark, both are the worker's. The line is in
Dagster's failure, in `tidegate jobs list` and `show`, and in `tidegate why`.

The exception of a function that failed in a Python worker of Spark, as its text has come to the driver. A
function that rows go through (a UDF, `mapInPandas`, `rdd.map`) runs in a process of its own. What the
driver catches is an exception of Spark; its text holds the traceback of the worker, between frames of Java:

    : org.apache.spark.SparkException: Job aborted due to stage failure: …
    Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
      File "…/pyspark.zip/pyspark/worker.py", line 1247, in main
      File "/srv/project/programs/fares.py", line 17, in fare_of
    ValueError: no fares

Java repeats it for each cause; the first one counts. Pure.
"""

import re
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tidegate.domain.error import UserError
from tidegate.spark_jobs.java.cause import innermost_cause

_BEGINS = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ {2,}File "(?P<file>[^"]+)", line (?P<line>\d{1,9})(?:,|$)')
_OF_JAVA = "\tat "
_OF_EXECUTORS = re.compile(r"^.*/\w+-[0-9a-f]{20}\.zip/")
"""Where a module of the project is on an executor (`spark_jobs/session/executor_code.py`)."""
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib/python3\.\d+/|/pyspark\.zip/")
"""Files of libraries, on whatever machine the worker runs."""


class WorkerError(NamedTuple):
    """What a worker raised.

    Attributes:
        line: the first line of the exception, as "ValueError: no fares".
        frames: file and line of each frame outside of libraries, the deepest last.
    """

    line: str
    frames: tuple[tuple[Path, int], ...]


def worker_error(error: BaseException) -> WorkerError | None:
    """Return what a worker raised; None for an exception without the traceback of a worker."""
    if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
        return None
    return in_text(str(error))


def in_text(text: str) -> WorkerError | None:
    """Return the exception whose traceback a text holds; of a chain of them the one raised last."""
    found, frames, reading = None, [], False
    for line in text.splitlines():
        if line.endswith(_BEGINS):
            frames, reading = [], True
        elif reading and line.strip() and not line[0].isspace():
            found, reading = WorkerError(line.strip(), tuple(frames)), False
        elif reading:
            frame = _FRAME.match(line)
            if frame is not None and not _INSTALLED.search(frame["file"]):
                frames.append((Path(frame["file"]), int(frame["line"])))
        elif found is not None and line.startswith(_OF_JAVA):
            break
    return found


TEXT_CHARACTERS = 500
"""A longer first line is cut."""

_PACKAGE = Path(__file__).parents[2]
_EXAMPLE = _PACKAGE / "demo"
_LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))


def failure_text(error: BaseException, project: Path) -> str:
    """One line on a failure; of one whose message says what to do, that message.

    Args:
        project: the folder that files are named relative to.
    """
    if isinstance(error, UserError):
        return str(error)
    in_worker = worker_error(error)
    first = _first_line(error) if in_worker is None else in_worker.line
    if len(first) > TEXT_CHARACTERS:
        first = first[: TEXT_CHARACTERS - 1] + "…"
    place = user_place(error)
    if in_worker is not None:
        here = [(Path(_OF_EXECUTORS.sub(f"{project}/", str(file))), line) for file, line in in_worker.frames]
        place = _deepest(here) or place
        if first.startswith("ModuleNotFoundError"):
            first += ". Executors have the project's packages; what else they need: tidegate docs spark"
    if place is None:
        return first
    file, line = place
    shown = file.relative_to(project) if file.is_relative_to(project) else file
    return f"{first} ({shown}:{line})"


def user_place(error: BaseException) -> tuple[Path, int] | None:
    """File and line of the user's own code where an exception came from; None when it has no part in it."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Path(error.filename), error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return _deepest((Path(frame.filename), frame.lineno) for frame in frames if frame.lineno is not None)


def _deepest(frames: Iterable[tuple[Path, int]]) -> tuple[Path, int] | None:
    own = [(file, line) for file, line in frames if _is_own(file)]
    return own[-1] if own else None


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if type(error).__module__.partition(".")[0] in ("py4j", "pyspark"):
        # An exception that Spark knows has the stack of Java beside its text.
        cause = innermost_cause(f"{error}\n{getattr(error, '_stackTrace', None) or ''}")
        if cause is not None:
            return cause
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _is_own(file: Path) -> bool:
    if file.is_relative_to(_EXAMPLE):
        return True
    return file.is_absolute() and not any(file.is_relative_to(place) for place in (_PACKAGE, *_LIBRARIES))
