"""On time: whether ticks come as they should, for people and for what watches the scheduler."""

from datetime import datetime, timedelta

from tidegate.scheduler.tick.tick import CLOCK_KEPT_FOR

AHEAD = timedelta(seconds=5)
"""By how much the clocks of two machines may differ before a tick counts as one of the future."""

TICKS_MISSED = 12
"""After so many ticks that did not come, something is wrong: a minute where one comes every five seconds."""


def is_late(last: datetime | None, now: datetime, every: int) -> bool:
    """Return whether the next tick should have come long ago.

    Args:
        last: the last tick; None if none ever came, which is late.
        every: the seconds between two ticks.
    """
    return last is None or now - last > CLOCK_KEPT_FOR + timedelta(seconds=TICKS_MISSED * every)


def is_ahead(last: datetime, now: datetime) -> bool:
    """Return whether the last tick is of the future: the clock of that machine, or of this one, is wrong."""
    return last > now + AHEAD
