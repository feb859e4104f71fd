"""A time of the day as a text: `08:00`, and what people write instead of it (`8am`, `8:00`, `20.30`).

The language has one form, hours and minutes of a 24-hour clock with two digits each. This file reads the
other ones for hints only.
"""

import re
from datetime import time

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_SPELLED = re.compile(
    r"([0-9]{1,2})(?:[:.h]([0-9]{2}))?(?::[0-9]{2})?\s*(?:o'?clock|uhr|h)?\s*(a\.?m\.?|p\.?m\.?)?",
    re.IGNORECASE,
)
_NAMED = {"noon": "12:00", "midday": "12:00", "midnight": "00:00", "24:00": "00:00"}


def clock_time(text: str) -> time | None:
    """Return the time of a text such as "08:00"; None for any other text."""
    found = _CLOCK.fullmatch(text)
    return time(int(found[1]), int(found[2])) if found else None


def clock_hint(text: str) -> str | None:
    """Return what to write for a time in another form: `8am` is 'write "08:00"'; None if it is none."""
    named = _NAMED.get(text.strip().lower())
    found = _SPELLED.fullmatch(text.strip())
    if named or found is None:
        return f'write "{named}"' if named else None
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").lower()[:1]
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return f'write "{hour:02}:{minute:02}"'
