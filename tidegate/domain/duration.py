"""Durations: `90s`, `15m`, `4h`, `2d`, or ISO 8601 such as `PT1H30M`.

The short form has one unit; seconds may have decimals (`0.5s`). Years and months of ISO 8601 are
refused: they have no fixed length.
"""

import re
from datetime import datetime, timedelta

from tidegate.domain.error import UserError
from tidegate.domain.wording import shown

MIN_DURATION = timedelta(milliseconds=100)
"""Shorter waits have no visible effect."""

MAX_DURATION = timedelta(days=366)
"""A longer wait is most likely a mistake."""

FURTHEST = timedelta(days=400)
"""No duration of the language is that long: people are shown that what comes later never comes."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SHORT = re.compile(r"([0-9]{1,8})([smhd])\Z")
_DECIMAL_SECONDS = re.compile(r"([0-9]{1,8})\.([0-9]{1,3})s\Z")
_ISO = re.compile(
    r"P(?=.)(?:([0-9]{1,8})W)?(?:([0-9]{1,8})D)?"
    r"(?:T(?=.)(?:([0-9]{1,8})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,8})S)?)?\Z"
)
_ISO_UNITS = ("weeks", "days", "hours", "minutes", "seconds")


_SPELLED = re.compile(r"([0-9]{1,8})\s*(s|m|h|d|w)(ecs?|econds?|ins?|inutes?|rs?|ours?|ays?|eeks?)?\Z")
"""How people and other tools spell a duration of one unit: `3 hours`, `5min`, `1 week`."""


def is_never(instant: datetime, now: datetime) -> bool:
    """Return whether an instant is further than anything waits: the end of a timeout that is not written."""
    return instant > now + FURTHEST


class DurationError(UserError, ValueError):
    """A text that is not a duration."""


def parse_duration(text: str, *, minimum: timedelta = MIN_DURATION) -> timedelta:
    """Parse a duration.

    Args:
        minimum: the shortest duration allowed; scenarios allow zero.

    Raises:
        DurationError: the text is not a duration, or is outside `minimum` to 366 days.
    """
    short, decimal, iso = _SHORT.match(text), _DECIMAL_SECONDS.match(text), _ISO.match(text)
    if short:
        duration = timedelta(**{_UNITS[short[2]]: int(short[1])})
    elif decimal:
        duration = timedelta(seconds=int(decimal[1]), milliseconds=int(decimal[2].ljust(3, "0")))
    elif iso:
        duration = timedelta(**{unit: int(n) for unit, n in zip(_ISO_UNITS, iso.groups(), strict=True) if n})
    else:
        raise DurationError(
            f"a duration is a number with s, m, h or d, or ISO 8601, got {shown(text)}",
            duration_hint(text) or "write for example 90s, 15m, 4h, 2d or PT1H30M",
        )
    if not minimum <= duration <= MAX_DURATION:
        raise DurationError(
            f"a duration is from {duration_text(minimum)} to {MAX_DURATION.days}d, got {shown(text)}",
            "leave the key out if there is nothing to wait for"
            if duration < minimum
            else f"write {MAX_DURATION.days}d or less",
        )
    return duration


def duration_hint(text: str) -> str | None:
    """Return what to write for a duration that is spelled in another way: `3 hours` is "write 3h"."""
    found = _SPELLED.match(text.strip().lower())
    if found is None:
        return None
    number, unit = (7 * int(found[1]), "d") if found[2] == "w" else (int(found[1]), found[2])
    return f"write {number}{unit}"


def duration_text(duration: timedelta) -> str:
    """Return the shortest text of a duration in whole milliseconds: "90s", "4h", "2d", "0.5s"."""
    seconds, rest = divmod(duration, timedelta(seconds=1))
    if rest:
        return f"{seconds}.{rest // timedelta(milliseconds=1):03}".rstrip("0") + "s"
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
