"""When a cron must have fired, found by brute force: every minute is looked at, with a clock on the wall.

It knows the few forms that chance schedules use. The day on which clocks change is left to the tests
of the cron itself, and so are business days.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

CLOCKS_CHANGE = date(2026, 3, 8)
"""In New York, the only change of clocks that histories live through."""

DAYS = {"mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6, "sun": 0}
NAMED = {"@hourly": "0 * * * *"}


def due(pattern: str, zone: str, after: datetime, until: datetime) -> Iterator[datetime]:
    """Every instant in (after, until] at which the pattern fires."""
    minute, hour, day, month, weekday = NAMED.get(pattern, pattern).split()
    assert (day, month) == ("*", "*"), f"the oracle does not know {pattern}"
    minutes, hours, weekdays = _numbers(minute, 60), _numbers(hour, 24), _numbers(weekday, 7)
    at = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while at <= until:
        wall = at.astimezone(ZoneInfo(zone))
        fires = wall.minute in minutes and wall.hour in hours and wall.isoweekday() % 7 in weekdays
        if fires and wall.date() != CLOCKS_CHANGE:
            yield at
        at += timedelta(minutes=1)


def _numbers(field: str, end: int) -> set[int]:
    if field == "*":
        return set(range(end))
    if field.startswith("*/"):
        return set(range(0, end, int(field[2:])))
    found: set[int] = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        found |= set(range(_number(first), _number(last or first) + 1))
    return found


def _number(word: str) -> int:
    return DAYS[word] if word in DAYS else int(word)
