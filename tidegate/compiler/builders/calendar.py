"""Calendars: which days are business days, and the schedules' references to them.

What the `holidays` package knows is judged by `domain.time.calendar`; here is only what the
YAML says and where.
"""

from datetime import date

import msgspec

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.model import Calendar
from tidegate.domain.time.calendar import DAY_NAMES, problem_of
from tidegate.domain.wording import shown

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""Own dates lie in these years, far enough from both ends of the calendar for any arithmetic."""

_HINTS = {
    "country": "write an ISO 3166 code such as US or DE; own dates alone stand in `closed`",
    "market": "write the code of a market such as NYSE; own dates alone stand in `closed`",
    "subdivision": "write a code such as NY beside `country: US`, or leave it out",
    "weekend": "leave the days out on which there is work",
    "open": "delete the date from one of the two",
}
"""By the key at which a problem is reported."""


def build_calendar(key: ScalarNode, node: MappingNode, scope: Scope) -> Calendar | None:
    """One calendar of an app; None after an error has been reported."""
    if "country" in node.values and "market" in node.values:
        scope.findings.add(
            "V214",
            node.keys["market"],
            "a calendar follows a country or a market, got both",
            "delete one of the two; days that are missing can stand in `closed`",
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
    """The calendar that the key `calendar` names; None without one, or after it has been reported."""
    name = mapping.get("calendar")
    return scope.calendar(name) if isinstance(name, ScalarNode) else None


def _wrong_key(calendar: Calendar, country: str) -> str:
    """The key that a calendar's problem is about; `country` is the one that names its country."""
    if set(calendar.open) & set(calendar.closed):
        return "open"
    if len(calendar.weekend) == len(DAY_NAMES) and not calendar.open:
        return "weekend"
    whole = msgspec.structs.replace(calendar, subdivision=None)
    return "subdivision" if problem_of(whole) is None else country


def _day(text: str) -> date | None:
    """The day that a text names; None for one that does not exist, or that no schedule will see."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_YEAR <= day.year <= LAST_YEAR else None


def _dates(node: MappingNode, key: str, scope: Scope) -> tuple[date, ...] | None:
    """Days in order, each once; None after an error has been reported."""
    found: set[date] = set()
    nodes = node.strings(key)
    for place in nodes:
        day = _day(str(place.value))
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
