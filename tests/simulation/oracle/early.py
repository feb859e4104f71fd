"""Whether a key is of a period that had not begun when its event arrived, read from the text of the key."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tidegate.scheduler.model.journal import Entry

ZONE = ZoneInfo("America/New_York")
"""Of all datasets of a chance app."""


def is_early(key: str | None, arrived: datetime) -> bool:
    """Whether the period of a key had not begun; any other key has none."""
    begin = _begin(key)
    return begin is not None and begin > arrived


def check_joins(facts: dict[str, Any]) -> None:
    """An event that joins a job is of a period that has begun."""
    assert not is_early(facts.get("partition"), _arrived(facts)), f"a key of the future joined: {facts}"


def check_refused(entry: Entry) -> None:
    """An event whose key is refused is of a period that has not begun, or has no key of a period."""
    key = entry.data.get("partition")
    good = entry.reason == "D-KEY" and _begin(key) is not None and not is_early(key, _arrived(entry.data))
    assert not good, "a good key was refused"


def _arrived(facts: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(facts["arrived"])


def _begin(key: str | None) -> datetime | None:
    """The first instant of the period of a key such as 2026-03-02, 2026-03-02-05:00 or 2026-03-02|EWR."""
    text = (key or "").partition("|")[0]
    day, hour = text[:10], text[11:] or "00:00"
    try:
        return datetime.fromisoformat(f"{day}T{hour}").replace(tzinfo=ZONE)
    except ValueError:
        return None
