"""*Events*: the events that match, newest first, and what became of each in every schedule."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.listed_events import ListedEvent
from tidegate.scheduler.model.event import app_of_key
from tidegate.scheduler.store.wanted import Outcome
from tidegate.server.access import READ, Called
from tidegate.server.board.page import PageRoute, page
from tidegate.server.page import Page
from tidegate.server.routes.event_list import Filtered, Filters, events_page
from tidegate.server.service import Here

router = APIRouter(prefix="/board/events", route_class=PageRoute, include_in_schema=False)


class Listed(Value, kw_only=True):
    """The page, with its filters."""

    wanted: Filters
    outcomes: tuple[str, ...]
    items: tuple[ListedEvent, ...]
    next: str | None


@router.get("", dependencies=[READ])
def list_page(
    request: Request, service: Here, caller: Called, page_of: Annotated[Page, Depends(Page)], wanted: Filtered
) -> Response:
    """List the events that match, the newest first."""
    with service.store.reading() as reader:
        found, cursor = events_page(service, reader, caller, page_of, wanted)
        zone = common_zone(reader, {app_of_key(each.event.key) for each in found})
    view = Listed(wanted=wanted, outcomes=tuple(Outcome), items=tuple(found), next=cursor)
    return page(request, service, "events", "Events", view, zone)
