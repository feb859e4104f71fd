"""Lists as pages: a form of the filters, a table of the columns, and a link to the next page."""

from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Listing, load
from tidegate.listings.read import Rows
from tidegate.project.local_time import common_zone
from tidegate.scheduler.model.records.alert import AlertState
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import Caller, needs
from tidegate.server.board.page import PageRoute, page
from tidegate.server.listing import endpoint
from tidegate.server.service import Service

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)


class FilterShown(Value, kw_only=True):
    """A field of the form.

    Attributes:
        values: those of a state; None for a field that takes any text.
    """

    name: str
    kind: str
    help: str
    value: Any
    values: tuple[str, ...] | None


class ListShown(Value, kw_only=True):
    """What the template shows of a page of a list.

    Attributes:
        next: the query of the next page; "" for the last one.
        more: what the page shows beside the list; None for nothing.
    """

    listing: Any
    filters: tuple[FilterShown, ...]
    items: list[Any]
    next: str
    more: Any


More = Callable[[Service, Caller, Rows, dict[str, Any]], Any]
"""Reads what a page shows beside its list, of the filters as they were given."""


def add_page(listing: Listing, path: str = "", template: str = "listing", more: More | None = None) -> None:
    """Add the page of a list; with `format=json` it is the answer of the list's REST route.

    Args:
        path: below /board; "" for the list's own name.
        template: one that extends listing.html, where the page has more than the list.
        more: what that template has as `view.more`.
    """
    path = path or f"/{listing.name}"

    def show(
        request: Request, service: Service, caller: Caller, rows: Rows, given: dict[str, Any]
    ) -> Response:
        with service.store.reading() as reader:
            zone = common_zone(reader, rows.apps)
        view = shown(listing, rows, given, None if more is None else more(service, caller, rows, given))
        return page(request, service, template, listing.title, view, zone, rows)

    needed = Depends(needs(Role(listing.role)))
    router.get(path, dependencies=[needed], response_model=None)(endpoint(listing, path, show))


def shown(listing: Listing, rows: Rows, given: dict[str, Any], more: Any) -> ListShown:
    """Return what a template shows of a page of a list."""
    return ListShown(
        listing=listing,
        filters=tuple(
            FilterShown(
                name=each.name,
                kind=each.kind,
                help=each.help,
                value=given[each.name],
                values=tuple(load(each.of)) if each.of else None,
            )
            for each in listing.filters
        ),
        items=rows.items,
        next="" if rows.next is None else urlencode(_query(given, rows.next)),
        more=more,
    )


def _query(given: dict[str, Any], cursor: str) -> list[tuple[str, str]]:
    """Return the query of the next page: of the same filters."""
    found: list[tuple[str, str]] = []
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        found += [
            (name, str(each).lower() if isinstance(each, bool) else each)
            for each in values
            if each not in (None, "")
        ]
    return [*found, ("cursor", cursor)]


def _alert_counts(service: Service, caller: Caller, *_: object) -> dict[str, int]:
    """Return how many alerts that a caller sees are in each state, whatever the filters."""
    sums = Counter[AlertState]()
    with service.store.reading() as reader:
        for app in caller.each_app:
            for each in reader.alert_counts(service.settings.name, app):
                sums[each.state] += each.alerts
    return {str(each): sums[each] for each in AlertState if sums[each]}


for _name in ("jobs", "instances", "late", "overrides", "commits", "tasks", "gauges", "watermarks"):
    add_page(LISTINGS[_name])
add_page(LISTINGS["alerts"], template="alerts", more=_alert_counts)
add_page(LISTINGS["backfills"], template="backfills")
add_page(LISTINGS["events"], template="events")
add_page(LISTINGS["tables"], "/maintenance")
