"""The rule of a window once more, by minutes of the day; it shares nothing with the engine."""

from collections.abc import Collection
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from tidegate.domain.model import Calendar

MINUTES_A_DAY = 1440


def naive_inside(
    instant: datetime,
    opens: time,
    closes: time,
    zone: str,
    days: Collection[str],
    calendar: Calendar | None = None,
) -> bool:
    """Whether a clock on the wall shows a time inside the window, which opened on a day on which it may."""
    local = instant.astimezone(ZoneInfo(zone))
    minute, first = _minute(local.time()), _minute(opens)
    if (minute - first) % MINUTES_A_DAY >= (_minute(closes) - first) % MINUTES_A_DAY:
        return False
    opened = local.date() if minute >= first else local.date() - timedelta(days=1)
    if days and f"{opened:%a}".lower() not in days:
        return False
    if calendar is None or opened in calendar.open:
        return True
    return f"{opened:%a}".lower() not in calendar.weekend and opened not in calendar.closed


def _minute(at: time) -> int:
    return at.hour * 60 + at.minute
