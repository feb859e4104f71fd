"""The ledger of events."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.part_name import app_of
from tidegate.scheduler.explain.ledger_line import ledger_line
from tidegate.scheduler.explain.names import find_schedule
from tidegate.scheduler.store.protocol import LedgerRow, Reader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import ANY_OBJECT, contract, listed, page_of
from tidegate.server.page import Page
from tidegate.server.service import Here, Service
from tidegate.server.visible import known_app, name_seen, named, visible_apps

router = APIRouter(tags=["records"])


@router.get("/ledger", dependencies=[READ], **contract(page_of(ANY_OBJECT)))
def ledger(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    app: Annotated[str, Query(description="Only schedules of this app.")] = "",
    schedule: Annotated[str, Query(description='"app/schedule", or its name if one app has it.')] = "",
) -> Response:
    """Balance the events of each schedule, by its name; every line adds up."""
    with service.store.reading() as reader:
        rows = ledger_rows(service, reader, caller, app)
        if schedule:
            only = app or caller.app
            name = schedule if only is None or "/" in schedule else f"{only}/{schedule}"
            ref = _ref(service, reader, caller, name, {row.schedule for row in rows})
            rows = [row for row in rows if row.schedule == ref]
    return listed(*page.of([ledger_line(row) for row in rows], lambda line: (line["schedule"],)))


def ledger_rows(service: Service, reader: Reader, caller: Caller, app: str) -> list[LedgerRow]:
    """Return the lines that a caller sees, of one app or of all.

    Raises:
        Problem: 400 for an unknown app, 403 for one of another than the token's.
    """
    if app:
        app = known_app(service, reader, caller, app)
    apps = visible_apps(service, reader, caller)
    rows = reader.ledger(app=app or caller.app)
    return [row for row in rows if apps is None or app_of(row.schedule) in apps]


def _ref(service: Service, reader: Reader, caller: Caller, name: str, known: set[str]) -> str:
    """Return the ref of a schedule: one with events, also if it was deleted, or a deployed one."""
    with named(unknown=400, ambiguous=400):
        name = name_seen(reader, caller, name)
        if name in known:
            return name
        return find_schedule(reader, name, visible_apps(service, reader, caller)).ref
