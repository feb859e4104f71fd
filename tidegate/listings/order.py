"""The order of the items of a list, and cursors, which point behind an item.

A cursor has the values that order the list, so rows that come or go between two pages repeat and skip nothing
else. It names its list: the cursor of another one is refused.
"""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import msgspec

from tidegate.domain.error import UserError
from tidegate.listings.listing import Ordered

Place = tuple[Any, ...]
"""The values of the fields by which a list is ordered."""

NUL = "\x00"
NUMBER_END = 2**63 - 1
"""Behind every number that a store has."""


class ForeignCursor(UserError):
    """A cursor that no page of the list gave."""

    def __init__(self) -> None:
        super().__init__("the cursor is not one of this list; begin without one")


def cut(
    listing: Ordered, items: Iterable[Any], after: Place | None, limit: int
) -> tuple[list[Any], str | None]:
    """Return the first items behind a place, in the order of the list, and the cursor of the next page."""
    rest = [each for each in items if after is None or _is_behind(listing, _place(listing, each), after)]
    for name in reversed(listing.order):
        field = name.removeprefix("-")
        rest.sort(key=lambda each, field=field: _rank(getattr(each, field)), reverse=name != field)
    found = rest[:limit]
    return found, _cursor(listing, found[-1]) if len(rest) > limit else None


def place_of(listing: Ordered, cursor: str) -> Place:
    """Return the place of a cursor.

    Raises:
        ForeignCursor: it is of another list, or none.
    """
    types = {field.name: field.type for field in msgspec.structs.fields(listing.item)}
    try:
        text = base64.b64decode((cursor + "=" * (-len(cursor) % 4)).encode("ascii"), b"-_", validate=True)
        name, *values = msgspec.json.decode(text, type=list[Any])
        found = tuple(
            msgspec.convert(value, types[field.removeprefix("-")])
            for field, value in zip(listing.order, values, strict=True)
        )
    except (UnicodeError, ValueError, binascii.Error, msgspec.MsgspecError) as error:
        raise ForeignCursor from error
    if name != listing.name or not all(map(_is_storable, found)):
        raise ForeignCursor
    return found


def _cursor(listing: Ordered, item: Any) -> str:
    text = msgspec.json.encode([listing.name, *_place(listing, item)])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _place(listing: Ordered, item: Any) -> Place:
    return tuple(getattr(item, name.removeprefix("-")) for name in listing.order)


def _rank(value: Any) -> tuple[bool, Any]:
    """Return what orders a value: None before all others."""
    return value is not None, value


def _is_behind(listing: Ordered, place: Place, after: Place) -> bool:
    for name, mine, other in zip(listing.order, map(_rank, place), map(_rank, after), strict=True):
        if mine != other:
            return mine < other if name.startswith("-") else mine > other
    return False


def _is_storable(value: Any) -> bool:
    """Return whether a store can compare a value with what it has."""
    match value:
        case str():
            return NUL not in value
        case int():
            return abs(value) < NUMBER_END
        case _:
            return True
