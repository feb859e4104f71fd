"""The overrides of a difference as text: who, why, until when, the three views, and what becomes of each."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from tidegate.compiler.plan.override_change import Fate, OverrideChange

MAX_VIEW_CHARACTERS = 70
"""Longer values are cut; `--format json` prints them in full."""

_KINDS = {
    "status": "its status",
    "specification": "its text",
    "created": "created by hand",
    "deleted": "deleted by hand",
    "held": "on hold",
}
_FATES: dict[Fate, str] = {
    "kept": "stays",
    "replaced": "ends: the YAML replaces it",
    "deleted": "ends with the schedule",
}


def overrides_text(overrides: Iterable[OverrideChange]) -> Iterator[str]:
    """Yield the lines of overrides; none without any."""
    for number, each in enumerate(overrides):
        if number == 0:
            yield "overrides:"
        reason = f" ({each.reason})" if each.reason else ""
        until = "" if each.expires_at is None else f" until {_instant(each.expires_at)}"
        since = f"by {each.owner} since {_instant(each.since)}{until}{reason}"
        yield f"  {each.ref}: {_KINDS[each.kind]}, {since}"
        for field in each.fields:
            views = (("git", field.git), ("deployed", field.deployed), ("override", field.override))
            yield f"      {field.path}: {', '.join(f'{view} {_value(value)}' for view, value in views)}"
        yield f"      -> {_FATES[each.fate]}"


def _instant(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%SZ}"


def _value(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()
    return text if len(text) <= MAX_VIEW_CHARACTERS else text[:MAX_VIEW_CHARACTERS] + "…"
