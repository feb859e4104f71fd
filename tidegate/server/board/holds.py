"""The buttons that hold an app and release it; they are on the page of its schedules."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from tidegate.server.access import OPERATE, Called
from tidegate.server.board.page import PageRoute, back
from tidegate.server.body import read_form
from tidegate.server.routes.holds import switched
from tidegate.server.service import Here

router = APIRouter(prefix="/board/apps", route_class=PageRoute, include_in_schema=False)

Form = Annotated[dict[str, str], Depends(read_form)]


@router.post("/{app}/hold", dependencies=[OPERATE])
def hold(app: str, service: Here, caller: Called, form: Form) -> Response:
    """Launch nothing of an app until it is released."""
    expires = form.get("expires", "").strip()
    switched(service, caller, app, "hold", form.get("reason", "").strip(), expires)
    return back("/board/schedules", f"{app} is on hold: nothing of it is launched", app=app)


@router.post("/{app}/release", dependencies=[OPERATE])
def release(app: str, service: Here, caller: Called, form: Form) -> Response:
    """Launch an app again."""
    done = switched(service, caller, app, "release", form.get("reason", "").strip())
    return back("/board/schedules", f"{done.app} is released: what was decided is launched first", app=app)
