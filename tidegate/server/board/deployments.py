"""*Deployments*: what each changed, and by whom."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.server.access import READ, Called
from tidegate.server.board.page import PageRoute, page
from tidegate.server.page import Page
from tidegate.server.routes.records import deployments_page
from tidegate.server.service import Here

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)


class Deployments(Value, kw_only=True):
    """The deployments, the newest first."""

    items: tuple[dict[str, Any], ...]
    next: str | None


@router.get("/deployments", dependencies=[READ])
def deployed_page(
    request: Request, service: Here, caller: Called, page_of: Annotated[Page, Depends(Page)]
) -> Response:
    """Show when what was deployed, by whom, and what it changed."""
    found, cursor = deployments_page(service, caller, page_of)
    view = Deployments(items=tuple(found), next=cursor)
    return page(request, service, "deployments", "Deployments", view)
