"""*Deployments*: what each changed, and by whom; a button goes back to one."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.deployments import DeploymentLine
from tidegate.server.access import ADMIN, READ, Called
from tidegate.server.board.back import back
from tidegate.server.board.page import PageRoute, page
from tidegate.server.body import read_form
from tidegate.server.page import Page
from tidegate.server.routes.deployments import Wanted, deployments_page, number_of, rolled_back
from tidegate.server.service import Here

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)


class Deployments(Value, kw_only=True):
    """The deployments, the newest first."""

    newest: int
    items: tuple[DeploymentLine, ...]
    next: str | None


@router.get("/deployments", dependencies=[READ])
def deployed_page(
    request: Request, service: Here, caller: Called, page_of: Annotated[Page, Depends(Page)]
) -> Response:
    """Show when what was deployed, by whom, and what it changed."""
    found, cursor = deployments_page(service, caller, page_of)
    with service.store.reading() as reader:
        newest = reader.newest_deployment()
    view = Deployments(newest=0 if newest is None else newest[0], items=tuple(found), next=cursor)
    return page(request, service, "deployments", "Deployments", view)


@router.post("/deployments/{number}/rollback", dependencies=[ADMIN])
def roll_back(
    number: str,
    service: Here,
    caller: Called,
    form: Annotated[dict[str, str], Depends(read_form)],
) -> Response:
    """Roll back to a deployment."""
    wanted = Wanted(reason=form.get("reason", ""))
    done = rolled_back(service, caller, number_of(number), wanted)
    return back("/board/deployments", f"rolled back to {number}: this is deployment {done['number']}")
