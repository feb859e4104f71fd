"""*Late*: jobs and periods of datasets that have missed their deadline."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.lateness import Late
from tidegate.server.access import READ, Called
from tidegate.server.board.page import PageRoute, page
from tidegate.server.page import Page
from tidegate.server.routes.late import late_page
from tidegate.server.service import Here

router = APIRouter(prefix="/board/late", route_class=PageRoute, include_in_schema=False)


class Listed(Value, kw_only=True):
    """The list, the newest deadline first, with its filters.

    Attributes:
        now: only what is late now; else also what has landed since.
    """

    app: str
    dataset: str
    now: bool
    items: tuple[Late, ...]
    next: str | None


@router.get("", dependencies=[READ])
def list_page(
    request: Request,
    service: Here,
    caller: Called,
    page_of: Annotated[Page, Depends(Page)],
    app: str = "",
    dataset: str = "",
    now: bool = True,
) -> Response:
    """List what is late."""
    found, cursor = late_page(service, caller, page_of, app, dataset, now)
    with service.store.reading() as reader:
        zone = common_zone(reader, {app_of(each.name) for each in found})
    view = Listed(app=app, dataset=dataset, now=now, items=tuple(found), next=cursor)
    return page(request, service, "late", "Late", view, zone)
