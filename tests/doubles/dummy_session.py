"""A Spark session that costs nothing, in each process that imports this before a run asks for one.

A session begins before its program is loaded, so that no program can replace it.
"""

from collections.abc import Iterator
from typing import Any

from tidegate.spark_jobs.session import session


class Dummy:
    """Whatever is asked of it, which includes nothing when it is gone through."""

    def __getattr__(self, name: str) -> "Dummy":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_given: object, **_named: object) -> "Dummy":
        return self

    def __iter__(self) -> Iterator[object]:
        return iter(())


DUMMY: Any = Dummy()
DUMMY.uiWebUrl = None
session._start = lambda _settings: DUMMY
