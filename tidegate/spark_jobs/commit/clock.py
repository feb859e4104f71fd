"""The clock of commits: returns the current time and waits. It is always passed as an argument.

Only leases and polling depend on time in this package. Tests pass a clock of their own, so that
none of them sleeps.
"""

import threading
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Returns the current time and waits."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait until `stop` is set, at most `seconds`. Return whether it is set."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        return stop.wait(seconds)


SYSTEM_CLOCK = SystemClock()
