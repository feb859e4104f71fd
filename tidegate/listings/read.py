"""A page of a list: filters are parsed, the query is loaded and asked, its items are ordered and cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidegate.domain.value import Value
from tidegate.listings.kinds import parse_filter, refuse_unknown
from tidegate.listings.listing import Listing, Scope, load
from tidegate.listings.order import Place, cut, place_of
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.upkeep import UpkeepStore


@dataclass(frozen=True, kw_only=True)
class Source:
    """What lists are read from: a store, at an instant.

    Attributes:
        reader: of the store, open.
    """

    store: UpkeepStore
    reader: ListingReader
    settings: Settings
    now: datetime


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a query is asked for. It may return more: what it returns is ordered and cut.

    Attributes:
        wanted: the filters that were given, parsed.
        limit: a long list returns no more than this number of items behind `after`, the first ones.
        after: the values of the fields of `order` of the item behind which the page begins.
        falling: the list is read from its last item on, where both orders are asked for.
    """

    source: Source
    scope: Scope
    wanted: Mapping[str, Any]
    limit: int
    after: Place | None
    falling: bool = False

    @property
    def reader(self) -> ListingReader:
        """The open store."""
        return self.source.reader

    @property
    def apps(self) -> frozenset[str] | None:
        """The only apps whose items are listed; None for all."""
        return frozenset({self.wanted["app"]}) if "app" in self.wanted else self.scope.apps

    def sees(self, app: str) -> bool:
        """Return whether the items of an app are listed."""
        return self.apps is None or app in self.apps


class Rows(Value, kw_only=True):
    """A page of a list.

    Attributes:
        next: the cursor of the next page; None for the last one.
    """

    items: list[Any]
    next: str | None

    @property
    def apps(self) -> set[str]:
        """The apps of its items."""
        return {each.app for each in self.items if getattr(each, "app", "")}


def read(
    listing: Listing,
    source: Source,
    scope: Scope,
    given: Mapping[str, Any],
    *,
    limit: int,
    cursor: str | None = None,
) -> Rows:
    """Return a page of a list.

    Args:
        given: the filters as they were written; what is empty does not narrow.

    Raises:
        UserError: a filter has an unknown or malformed value, or the cursor is of another list.
        NotInScope: a filter names an app that the caller does not see.
    """
    after = None if cursor is None else place_of(listing, cursor)
    wanted: dict[str, Any] = {}
    for each in listing.filters:
        value = given.get(each.name)
        if value not in (None, "", [], [""]):
            apps = frozenset({wanted["app"]}) if "app" in wanted else scope.apps
            wanted[each.name] = parse_filter(each, value, source.reader, scope, apps)
    falling = listing.order[0].startswith("-")
    asked = Asked(source=source, scope=scope, wanted=wanted, limit=limit + 1, after=after, falling=falling)
    items, following = cut(listing, load(listing.query)(asked), after, limit)
    if not items and after is None:
        for each in listing.filters:
            if each.name in wanted:
                refuse_unknown(each, wanted[each.name], source.reader, scope)
    return Rows(items=items, next=following)
