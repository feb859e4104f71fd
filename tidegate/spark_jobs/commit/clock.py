"""The clock of commits: what time it is, and how to wait. Given to whoever needs it.

Leases and polling are the only things in this package that know time at all. Tests give a clock
of their own, so that none of them sleeps.
"""

import threading
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        ...

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Waits until `stop` is set, or so many seconds have passed. Whether it is set."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """See `Clock.now`."""
        return datetime.now(UTC)

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """See `Clock.wait`."""
        return stop.wait(seconds)


SYSTEM_CLOCK = SystemClock()
