"""Overrides: what was changed by hand in all apps, and what each reverts to."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Query, Response

from tidegate.scheduler.explain.overrides import override_json
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import contract, listed, page_of
from tidegate.server.forms.override import OVERRIDE
from tidegate.server.page import Page
from tidegate.server.service import Here, Service
from tidegate.server.visible import known_app, visible_apps

router = APIRouter(prefix="/overrides", tags=["schedules"])


@router.get("", dependencies=[READ], **contract(page_of(OVERRIDE)))
def overrides(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    app: Annotated[str | None, Query(description="Only those of this app.")] = None,
) -> Response:
    """List what was changed by hand, by app and schedule: who, why, and until when."""
    with service.store.reading() as reader:
        if app is not None:
            app = known_app(service, reader, caller, app)
        found = overrides_seen(service, reader, caller, app)
        items, cursor = page.of(found, lambda each: (each["app"], each["schedule"] or "", each["kind"]))
    return listed([msgspec.to_builtins(each) for each in items], cursor)


def overrides_seen(
    service: Service, reader: EngineReader, caller: Caller, app: str | None = None
) -> list[dict[str, Any]]:
    """Return the overrides of the apps that a caller sees, as JSON."""
    apps = visible_apps(service, reader, caller)
    found = [each for each in reader.overrides(app=app) if apps is None or each.app in apps]
    states = {state.ref: state for state in reader.schedules(refs=[each.ref for each in found])}
    lines = [override_json(each, states.get(each.ref)) for each in found]
    return sorted(lines, key=lambda each: (each["app"], each["schedule"] or "", each["kind"]))
