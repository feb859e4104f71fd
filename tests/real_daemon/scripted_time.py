"""The time of Dagster in a thread that plays a scenario: what the scenario says instead of the computer's.

The product has a clock of its own (`Location.clock`). But Dagster stamps its events, and decides which
partitions exist, by the computer's clock. Here a thread can be given a clock; all others keep the real time.
"""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import dagster._time
import pytest

_here = threading.local()


@contextmanager
def scripted(clock: Callable[[], datetime]) -> Generator[None, None, None]:
    """Give this thread a clock."""
    before = getattr(_here, "clock", None)
    _here.clock = clock
    try:
        yield
    finally:
        _here.clock = before


def now() -> datetime:
    """Return the time of this thread."""
    clock = getattr(_here, "clock", None)
    return datetime.now(UTC) if clock is None else clock()


def install(patch: pytest.MonkeyPatch) -> None:
    """Let Dagster ask for the time of the thread."""
    patch.setattr(dagster._time, "_mockable_get_current_datetime", now)
    patch.setattr(dagster._time, "_mockable_get_current_timestamp", lambda: now().timestamp())
    # The events of a run have the time of their log record.
    patch.setattr(logging, "_logRecordFactory", _record)


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = logging.LogRecord(*args, **kwargs)
    record.created = now().timestamp()
    return record
