"""Recent: whether something has happened a short time ago, by a clock that may have been ahead meanwhile.

What the clock showed while it was ahead is not recent: else nothing would happen again until that time comes.
"""

from datetime import datetime, timedelta


def is_recent(at: datetime, now: datetime, within: timedelta) -> bool:
    """Return whether an instant is less than a span away from now; two clocks may differ by some of it."""
    return abs(now - at) < within
