"""Pages of lists: `{"items": [...], "next": cursor or null}`.

A cursor points behind an item, by the values that order the list, so rows that come or go between two pages
repeat and skip nothing else. It names its list: the cursor of another one is refused.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Query, Request
from pydantic import BeforeValidator

from tidegate.server.problem import Problem

LIMIT, LIMIT_MAX = 100, 1000

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROS_END = 2**53
"""Behind every instant that an item may have."""

T = TypeVar("T")
Key = tuple[Any, ...]


def _digits(value: Any) -> Any:
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("a whole number is of digits only")
    return value


WholeNumber = BeforeValidator(_digits)
"""Refuses what Python reads as a number and others do not, such as `1_0` and `+5`."""

Limit = Annotated[
    int, WholeNumber, Query(ge=1, le=LIMIT_MAX, description="How many items a page has at most.")
]
Cursor = Annotated[str | None, Query(description="`next` of the page before.", max_length=2000)]


class Page:
    """The wanted page of a list.

    Attributes:
        limit: the most items of it.
        after: the key of the item behind which it begins; None for the first page.
    """

    def __init__(self, request: Request, limit: Limit = LIMIT, cursor: Cursor = None) -> None:
        self.limit = limit
        self._list = request.url.path
        self.after = None if cursor is None else self._key(cursor)

    def of(self, items: Iterable[T], key: Callable[[T], Key]) -> tuple[list[T], str | None]:
        """Return the items of the page, and the cursor of the next one.

        Args:
            items: the whole list, in any order.
            key: what orders it: texts and numbers, different for each item.
        """
        after = self.after
        ordered = sorted(
            (each for each in items if after is None or self._follows(key(each), after)), key=key
        )
        return self.cut(ordered, key)

    def cut(self, rest: list[T], key: Callable[[T], Key]) -> tuple[list[T], str | None]:
        """Return the same of what follows `after`, in order.

        Args:
            rest: has at least one item more than `limit`, if there is one.
        """
        found = rest[: self.limit]
        return found, self._cursor(key(found[-1])) if len(rest) > self.limit else None

    def _follows(self, key: Key, after: Key) -> bool:
        try:
            return key > after
        except TypeError as error:
            raise foreign() from error

    def _cursor(self, key: Key) -> str:
        text = msgspec.json.encode([self._list, *key])
        return base64.urlsafe_b64encode(text).decode().rstrip("=")

    def _key(self, cursor: str) -> Key:
        try:
            text = base64.b64decode((cursor + "=" * (-len(cursor) % 4)).encode("ascii"), b"-_", validate=True)
            found = msgspec.json.decode(text)
        except (UnicodeEncodeError, binascii.Error, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise foreign() from error
        if not isinstance(found, list) or len(found) < 2 or found[0] != self._list:
            raise foreign()
        return tuple(found[1:])


def instant_key(at: datetime, id_: str) -> tuple[int, str]:
    """Return the key of an item in a list by instants; see `before_instant`."""
    return (at - EPOCH) // timedelta(microseconds=1), id_


def before_instant(page: Page) -> tuple[datetime, str] | None:
    """Return the instant and id behind which a page begins whose keys are of `instant_key`.

    Raises:
        Problem: 400, the cursor is not one of such a list.
    """
    match page.after:
        case None:
            return None
        case (int(micros), str(id_)) if 0 <= micros < MICROS_END:
            return EPOCH + timedelta(microseconds=micros), id_
        case _:
            raise foreign()


def before_number(page: Page, most: int) -> int | None:
    """Return the number behind which a page of a list by falling numbers begins.

    Args:
        most: the largest number that there can be.

    Raises:
        Problem: 400, the cursor is not one of such a list.
    """
    match page.after:
        case None:
            return None
        case (int(number),) if 0 <= number <= most:
            return number
        case _:
            raise foreign()


def after_name(page: Page) -> str | None:
    """Return the name behind which a page of a list by names begins.

    Raises:
        Problem: 400, the cursor is not one of such a list.
    """
    match page.after:
        case None:
            return None
        case (str(name),):
            return name
        case _:
            raise foreign()


def foreign() -> Problem:
    """Return the refusal of a cursor that no page of the list gave."""
    return Problem(400, "the cursor is not one of this list; begin without one")
