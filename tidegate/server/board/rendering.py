"""How the board shows values: the environment of its templates, with the shapes, words and times of a page.

{{ at|relative }}       "4 h 02 min ago", as seen from the instant of the page
{{ state|shape }}       the class and icon of a state; `word` says it
{{ "live.js"|asset }}   the address of a file (`assets`)
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import UNSET

from tidegate.domain.duration import is_never
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Column, Listing
from tidegate.project.local_time import local_clock, local_instant
from tidegate.release import release
from tidegate.scheduler.explain.operations.measure_text import age_text, value_text
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.server.board.assets import STYLES, asset

MAIN_PAGES = (
    ("/", "Now", "now"),
    ("/board/schedules", "Schedules", "schedules"),
    ("/board/jobs", "Jobs", "jobs"),
    ("/board/datasets", "Datasets", "datasets"),
    ("/board/maintenance", "Tables", "tables"),
    ("/board/deployments", "Deployments", "deployments"),
)
"""The pages of the navigation, by path, with their icon."""

MORE_PAGES = (
    ("/board/day", "Days"),
    ("/board/tasks", "Tasks"),
    ("/board/instances", "Instances"),
    ("/board/backfills", "Backfills"),
    ("/board/events", "Events"),
    ("/board/ledger", "Ledger"),
    ("/board/late", "Deadlines"),
    ("/board/alerts", "Alerts"),
    ("/board/overrides", "Overrides"),
    ("/board/checks", "Checks"),
    ("/board/commits", "Commits"),
    ("/board/watermarks", "Watermarks"),
    ("/board/gauges", "Gauges"),
)
"""Those under *More*."""

PAGES = (*((path, name) for path, name, _ in MAIN_PAGES), *MORE_PAGES)
"""All of them, by path."""

SHAPES = {
    "pending_trigger": "waiting",
    "pending_constraint": "waiting",
    "pending_launch": "queued",
    "launched": "running",
    "started": "running",
    "starting": "queued",
    "paused": "held",
    "withheld": "held",
    "successful": "succeeded",
    "sent": "succeeded",
    "passed": "succeeded",
    "dead": "failed",
    "cancelled": "discarded",
    "absent": "discarded",
    "pruned": "discarded",
    "fresh": "succeeded",
    "never": "discarded",
}
"""The shape and colour of a state, by its name, where that is not the name of the shape itself."""

OWN_SHAPES = frozenset(
    (
        "queued",
        "running",
        "waiting",
        "held",
        "succeeded",
        "failed",
        "late",
        "suspended",
        "discarded",
        "active",
    )
)
"""States that are shapes (static/icons.svg); any other state has that of what waits, the normal one."""

RANK = (
    "failed",
    "late",
    "running",
    "active",
    "queued",
    "waiting",
    "provisional",
    "held",
    "suspended",
    "succeeded",
    "discarded",
)
"""Shapes in the order in which a person wants to see them."""

WORDS = {
    "pending_trigger": "waiting",
    "pending_constraint": "waiting",
    "pending_launch": "queued",
    "launched": "running",
    "dead": "abandoned",
}
"""The word of a state, where it is not its name."""

DAY_HOURS = 48
"""Relative times of so many hours and more are in days."""

SHORT = 12
"""Characters of an id that are shown."""

_NOW: ContextVar[datetime] = ContextVar("instant of the page")


def relative(at: datetime) -> str:
    """Return an instant as seen from that of the page: "4 h 02 min ago", "in 12 min"."""
    if is_never(at, _NOW.get()):
        return local_instant(at, now=_NOW.get())
    passed = _NOW.get() - at
    if abs(passed) < timedelta(minutes=1):
        return "just now" if passed >= timedelta() else "within a minute"
    return f"{lasting(passed)} ago" if passed >= timedelta() else f"in {lasting(passed)}"


def lasting(passed: timedelta) -> str:
    """Return a span, forwards or back, in at most two units: "4 h 02 min"."""
    minutes, seconds = divmod(int(abs(passed).total_seconds()), 60)
    hours, rest = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes} min" if minutes else f"{seconds} s"
    return f"{hours} h {rest:02} min" if hours < DAY_HOURS else f"{hours // 24} d"


def since(at: datetime, now: datetime) -> str:
    """Return how long ago an instant was, as `lasting`; one of a clock that is ahead is now."""
    return lasting(max(now - at, timedelta()))


def shape(state: str) -> str:
    """Return the shape of a state: the end of its class, and the name of its icon."""
    name = state.lower()
    return name if name in OWN_SHAPES else SHAPES.get(name, "waiting")


def worst_first(items: list[Any], field: str) -> list[Any]:
    """Return the items of a page of a list in the order of their states; as they are without a field."""
    return sorted(items, key=lambda each: RANK.index(shape(getattr(each, field)))) if field else items


def columns(listing: Listing, items: list[Any]) -> list[Column]:
    """Return the columns that a table shows: the state first, the id of a job last, none without a value."""
    shown = [each for each in listing.whole if not items or any(_has(item, each) for item in items)]
    return sorted(shown, key=lambda each: {"state": 0, "job": 2}.get(each.shown_as, 1))


def _has(item: Any, column: Column) -> bool:
    value = getattr(item, column.name)
    return value not in (None, UNSET, "", ())


def word(state: str) -> str:
    """Return the word of a state."""
    return WORDS.get(state.lower(), state.lower().replace("_", " "))


def short(id: str) -> str:
    """Return what tells an id apart: the hexadecimal end of it, or its first characters."""
    return id.rpartition("-")[2][:SHORT] or id[:SHORT]


def job_path(id: str) -> str:
    """Return the page of a job."""
    return f"/board/jobs/{quote(id, safe='')}"


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("tidegate.server.board"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["instant"] = lambda at, zone="": local_instant(at, zone, _NOW.get(None))
    found.filters["clock"] = lambda at: local_clock(at, _NOW.get())
    found.filters |= {"relative": relative, "lasting": lasting, "short": short, "shape": shape, "word": word}
    found.filters |= {"asset": asset, "columns": columns}
    found.globals["listings"] = LISTINGS
    found.globals["styles"] = STYLES
    found.globals["main_pages"] = MAIN_PAGES
    found.globals["more_pages"] = MORE_PAGES
    found.globals["release"] = release()
    found.globals["job_shapes"] = {name: (shape(name), word(name)) for name in (*JobState, "SUSPENDED")}
    found.filters["measure"] = lambda value, name: value_text(name, value)
    found.filters["age"] = lambda seconds: age_text(timedelta(seconds=seconds))
    found.filters["summary"] = lambda code: Reason(code).summary
    found.tests["unset"] = lambda value: value is UNSET
    return found


ENVIRONMENT = _environment()


@contextmanager
def seen_from(now: datetime | None) -> Generator[None]:
    """Let relative times be those of an instant within the context; None for a page without any."""
    if now is None:
        yield
        return
    token = _NOW.set(now)
    try:
        yield
    finally:
        _NOW.reset(token)


def section_of(path: str) -> str:
    """Return the name of the page of the navigation that a page belongs to; "" for none."""
    return next((name for to, name in PAGES if path == to or (to != "/" and path.startswith(f"{to}/"))), "")
