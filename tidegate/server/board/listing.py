"""Lists as pages: chips and a form of the filters, a table of the columns, and a link to the next page."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Filter, Listing, load
from tidegate.listings.read import Rows
from tidegate.project.local_time import common_zone
from tidegate.scheduler.model.records.alert import AlertState
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import Caller, needs
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.rendering import word, worst_first
from tidegate.server.listing import endpoint
from tidegate.server.service import Service

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)


class FilterShown(Value, kw_only=True):
    """A field of the form.

    Attributes:
        values: those of a state; None for a field that takes any text.
        chips: whether its values are chips, and no field of the form.
    """

    name: str
    kind: str
    help: str
    value: Any
    values: tuple[str, ...] | None
    chips: bool


class ChipShown(Value, kw_only=True):
    """A filter in the address, as a link to the list with it, or without it where it is chosen.

    Attributes:
        state: whose shape it has; "" for none.
        query: of the list that it leads to.
    """

    label: str
    state: str = ""
    query: str
    chosen: bool


class ListShown(Value, kw_only=True):
    """What the template shows of a page of a list.

    Attributes:
        chips: the states that can be chosen, and each other filter that is given.
        next: the query of the next page; "" for the last one.
        more: what the page shows beside the list; None for nothing.
    """

    listing: Any
    filters: tuple[FilterShown, ...]
    chips: tuple[ChipShown, ...]
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
                chips=_is_of_state(listing, each),
            )
            for each in listing.filters
        ),
        chips=tuple(_chips(listing, given)),
        items=worst_first(rows.items, listing.worst_first),
        next="" if rows.next is None else urlencode([*_query(given), ("cursor", rows.next)]),
        more=more,
    )


def _chips(listing: Listing, given: dict[str, Any]) -> Iterable[ChipShown]:
    """Yield the states that can be chosen, by their words, then each other filter that is given."""
    states = [each for each in listing.filters if _is_of_state(listing, each)]
    for each in states:
        same: dict[str, list[str]] = {}
        for name in load(each.of):
            same.setdefault(word(name), []).append(str(name))
        for label, names in same.items():
            yield _chip(each, given, names, label, names[0])
    for each in listing.filters:
        value = given[each.name]
        if each.kind == "state":
            shown = [] if each in states else value
            yield from (_chip(each, given, [name], f"{_words(each)}: {word(name)}") for name in shown)
        elif value not in (None, ""):
            words = {"True": "yes", "False": "no"}.get(str(value), value)
            query = urlencode(_query({**given, each.name: None}))
            yield ChipShown(label=f"{_words(each)}: {words}", query=query, chosen=True)


def _chip(of: Filter, given: dict[str, Any], names: list[str], label: str, state: str = "") -> ChipShown:
    """Return the chip of some states; it is chosen if all of them are."""
    lower = [name.lower() for name in names]
    others = [each for each in given[of.name] if each.lower() not in lower]
    chosen = len(others) <= len(given[of.name]) - len(names)
    wanted = others if chosen else [*others, *names]
    query = urlencode(_query({**given, of.name: wanted}))
    return ChipShown(label=label, state=state, query=query, chosen=chosen)


def _is_of_state(listing: Listing, of: Filter) -> bool:
    """Return whether a filter is about the state that a column of the list shows."""
    shown = {column.name for column in listing.columns if column.shown_as == "state"}
    return of.kind == "state" and of.name.rpartition("-")[2] in shown


def _words(of: Filter) -> str:
    return of.name.replace("_", " ").replace("-", " ")


def _query(given: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the query of a list with these filters."""
    found: list[tuple[str, str]] = []
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        found += [
            (name, str(each).lower() if isinstance(each, bool) else each)
            for each in values
            if each not in (None, "")
        ]
    return found


def _alert_counts(service: Service, caller: Caller, *_: object) -> dict[str, int]:
    """Return how many alerts that a caller sees are in each state, whatever the filters."""
    sums = Counter[AlertState]()
    with service.store.reading() as reader:
        for app in caller.each_app:
            for each in reader.alert_counts(service.settings.name, app):
                sums[each.state] += each.alerts
    return {str(each): sums[each] for each in AlertState if sums[each]}


for _name in ("jobs", "instances", "late", "overrides", "checks", "commits", "tasks", "gauges", "watermarks"):
    add_page(LISTINGS[_name])
add_page(LISTINGS["alerts"], template="alerts", more=_alert_counts)
add_page(LISTINGS["backfills"], template="backfills")
add_page(LISTINGS["events"], template="events")
add_page(LISTINGS["tables"], "/maintenance")
