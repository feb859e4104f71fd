"""The order of lists and their cursors: pages have every item once, and other cursors are refused."""

import base64
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tidegate.listings.late import LATE, Late
from tidegate.listings.order import ForeignCursor, cut, place_of

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def late(name: str, due: datetime | None) -> Late:
    return Late(kind="dataset", name=name, key="k", due=due, deadline="", late_at=NOON)


ITEMS = [
    late("b/x", NOON),
    late("a/x", None),
    late("a/y", NOON),
    late("a/z", NOON + timedelta(microseconds=1)),
]


def test_pages_have_every_item_once_in_the_declared_order():
    seen: list[str] = []
    cursor = None
    for _ in ITEMS:
        found, cursor = cut(LATE, ITEMS, None if cursor is None else place_of(LATE, cursor), 1)
        seen += [each.name for each in found]
    assert seen == ["a/z", "a/y", "b/x", "a/x"]
    assert cursor is None


def encoded(*values: object) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(values)).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "ä",
        encoded(),
        encoded("late"),
        encoded("jobs", NOON, "dataset", "a/x", "k", ""),
        encoded("late", NOON, "dataset", "a/x", "k"),
        encoded("late", 5, "dataset", "a/x", "k", ""),
        encoded("late", "2026-03-10T12:00:00", "dataset", "a/x", "k", ""),
        encoded("late", NOON, "dataset", "a\x00x", "k", ""),
    ],
)
def test_another_cursor_is_refused(cursor: str):
    with pytest.raises(ForeignCursor):
        place_of(LATE, cursor)
