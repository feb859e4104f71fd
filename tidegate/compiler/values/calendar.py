"""The builder of business calendars, and the references of schedules to them.

`domain.time.calendar` checks countries, markets and subdivisions; this module reads the YAML and
reports the places.
"""

from datetime import date

import msgspec

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Calendar
from tidegate.domain.time.calendar import DAY_NAMES, problem_of
from tidegate.domain.wording import shown

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""Own dates are in these years: far enough from the limits of `datetime` for any arithmetic."""

_HINTS = {
    "country": "write an ISO 3166 code such as US or DE; for own dates only, use `closed`",
    "market": "write the code of a market such as NYSE; for own dates only, use `closed`",
    "subdivision": "write a code such as NY beside `country: US`, or leave it out",
    "weekend": "leave out the days that are business days",
    "open": "delete the date from one of the two lists",
}
"""Hints by the key at which a problem is reported."""


def build_calendar(key: ScalarNode, node: MappingNode, scope: Scope) -> Calendar | None:
    """Build a calendar of an app; return None after reporting an error."""
    if "country" in node.values and "market" in node.values:
        scope.findings.add(
            "V214",
            node.keys["market"],
            "a calendar follows a country or a market, got both",
            "delete one of the two; add missing days to `closed`",
        )
        return None
    closed, open_ = _dates(node, "closed", scope), _dates(node, "open", scope)
    if closed is None or open_ is None:
        return None
    weekend = {str(n.value) for n in node.strings("weekend")} if "weekend" in node.values else {"sat", "sun"}
    calendar = Calendar(
        name=str(key.value),
        country=node.text("country") or node.text("market") or None,
        subdivision=node.text("subdivision") or None,
        weekend=tuple(day for day in DAY_NAMES if day in weekend),
        closed=closed,
        open=open_,
    )
    problem = problem_of(calendar)
    if problem is not None:
        wrong = _wrong_key(calendar, "market" if "market" in node.values else "country")
        scope.findings.add("V214", node.values.get(wrong, key), problem, _HINTS[wrong])
        return None
    return calendar


def calendar_at(mapping: MappingNode, scope: Scope) -> Calendar | None:
    """Return the calendar that the key `calendar` names; None without the key, or after reporting it."""
    name = mapping.get("calendar")
    return scope.calendar(name) if isinstance(name, ScalarNode) else None


def _wrong_key(calendar: Calendar, country: str) -> str:
    """Return the key with the problem; `country` is the key that names the country or market."""
    if set(calendar.open) & set(calendar.closed):
        return "open"
    if len(calendar.weekend) == len(DAY_NAMES) and not calendar.open:
        return "weekend"
    whole = msgspec.structs.replace(calendar, subdivision=None)
    return "subdivision" if problem_of(whole) is None else country


def parsed_day(text: str) -> date | None:
    """Parse a date; return None if it does not exist or is outside the allowed years."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_YEAR <= day.year <= LAST_YEAR else None


def _dates(node: MappingNode, key: str, scope: Scope) -> tuple[date, ...] | None:
    """Return the dates at a key, sorted and unique; None after reporting an error."""
    found: set[date] = set()
    nodes = node.strings(key)
    for place in nodes:
        day = parsed_day(str(place.value))
        if day is not None:
            found.add(day)
            continue
        scope.findings.add(
            "V214",
            place,
            f"a day of a calendar is a date from {FIRST_YEAR} to {LAST_YEAR}, got {shown(place.value)}",
            "write for example 2026-12-24",
        )
    return tuple(sorted(found)) if len(found) == len(nodes) else None
