"""The exception of a function that failed in a Python worker of Spark, as its text has come to the driver.

A function that rows go through (a UDF, `mapInPandas`, `rdd.map`) runs in a process of its own. What the
driver catches is an exception of Spark; its text holds the traceback of the worker, between frames of Java:

    : org.apache.spark.SparkException: Job aborted due to stage failure: …
    Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
      File "…/pyspark.zip/pyspark/worker.py", line 1247, in main
      File "/srv/project/programs/fares.py", line 17, in fare_of
    ValueError: no fares

Java repeats it for each cause; the first one counts. Pure.
"""

import re
from pathlib import Path
from typing import NamedTuple

_BEGINS = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ {2,}File "(?P<file>[^"]+)", line (?P<line>\d{1,9})(?:,|$)')
_OF_JAVA = "\tat "
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
