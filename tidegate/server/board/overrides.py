"""*Overrides*: what was changed by hand in all apps, by whom, why and until when."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.scheduler.explain.overrides import overridden_as, reverted_to
from tidegate.scheduler.model.records.override import Override
from tidegate.server.access import READ, Called
from tidegate.server.board.page import PageRoute, page
from tidegate.server.page import Page
from tidegate.server.service import Here
from tidegate.server.visible import known_app, visible_apps

router = APIRouter(prefix="/board/overrides", route_class=PageRoute, include_in_schema=False)


class OverrideShown(Value, kw_only=True):
    """An override, without the text that it reverts to.

    Attributes:
        override: what was changed, in a few words.
        reverts: what becomes of the schedule, or the app, when it reverts.
        deployed: there is a page of the schedule, or of the app's schedules.
    """

    ref: str
    kind: str
    override: str
    owner: str
    reason: str
    since: datetime
    expires_at: datetime | None
    reverts: str
    deployed: bool


class Overrides(Value, kw_only=True):
    """The list."""

    app: str
    items: tuple[OverrideShown, ...]
    next: str | None


@router.get("", dependencies=[READ])
def list_page(
    request: Request,
    service: Here,
    caller: Called,
    page_of: Annotated[Page, Depends(Page)],
    app: str = "",
) -> Response:
    """List what was changed by hand, by app and schedule."""
    with service.store.reading() as reader:
        if app:
            app = known_app(service, reader, caller, app)
        apps = visible_apps(service, reader, caller)
        found = [each for each in reader.overrides(app=app or None) if apps is None or each.app in apps]
        items, cursor = page_of.of(found, lambda each: (each.ref, each.kind))
        deployed = {state.ref for state in reader.schedules(refs=[each.ref for each in items])}
        deployed |= {each.name for each in reader.app_headers()}
    view = Overrides(app=app, items=tuple(shown(each, each.ref in deployed) for each in items), next=cursor)
    return page(request, service, "overrides", "Overrides", view)


def shown(override: Override, deployed: bool = True) -> OverrideShown:
    """Return an override as pages show it."""
    return OverrideShown(
        ref=override.ref,
        kind=override.kind,
        override=overridden_as(override),
        owner=override.owner,
        reason=override.reason,
        since=override.since,
        expires_at=override.expires_at,
        reverts=reverted_to(override),
        deployed=deployed,
    )
