"""Pages of lists: `{"items": [...], "next": cursor or null}`; `listings.order` has the cursors."""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from fastapi import Query, Request
from pydantic import BeforeValidator

from tidegate.domain.value import Value
from tidegate.listings.listing import Ordered
from tidegate.listings.order import Place, cut, place_of
from tidegate.server.problem import refused_as

LIMIT, LIMIT_MAX = 100, 1000

T = TypeVar("T", bound=Value)


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
    """The wanted page of what has no declaration: its order is given where it is read.

    Attributes:
        limit: the most items of it.
    """

    def __init__(self, request: Request, limit: Limit = LIMIT, cursor: Cursor = None) -> None:
        self.limit = limit
        self._list, self._cursor = request.url.path, cursor

    def after(self, item: type[Value], *order: str) -> Place | None:
        """Return the place behind which it begins; None for the first page.

        Args:
            order: the fields by which the items are ordered, as `Ordered` has them.

        Raises:
            Problem: 400, the cursor is not one of this list.
        """
        with refused_as(400):
            listing = Ordered(name=self._list, item=item, order=order)
            return None if self._cursor is None else place_of(listing, self._cursor)

    def of(self, items: Iterable[T], item: type[T], *order: str) -> tuple[list[T], str | None]:
        """Return the items of the page, of a list or of more of it than it needs, and the next cursor."""
        listing = Ordered(name=self._list, item=item, order=order)
        return cut(listing, items, self.after(item, *order), self.limit)
