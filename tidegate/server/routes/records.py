"""The ledger of events."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.part_name import app_of
from tidegate.scheduler.explain.ledger_line import ledger_line
from tidegate.scheduler.explain.names import find_schedule
from tidegate.scheduler.store.answers import LedgerRow
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import ANY_OBJECT, contract, listed, page_of
from tidegate.server.page import Page, after_name
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
        if schedule:
            rows = _of_schedule(service, reader, caller, app, schedule)
        else:
            rows = ledger_rows(service, reader, caller, app, page)
    return listed(*page.of([ledger_line(row) for row in rows], lambda line: (line["schedule"],)))


def ledger_rows(
    service: Service, reader: EngineReader, caller: Caller, app: str, page: Page | None = None
) -> list[LedgerRow]:
    """Return the lines that a caller sees, of one app or of all.

    Args:
        page: only what this page needs, where the caller sees all that the store has.

    Raises:
        Problem: 400 for an unknown app, 403 for one of another than the token's.
    """
    if app:
        app = known_app(service, reader, caller, app)
    apps = visible_apps(service, reader, caller)
    only = app or caller.app
    if page is not None and (only is not None or apps is None):
        return list(reader.ledger(app=only, after=after_name(page) or "", limit=page.limit + 1))
    rows = reader.ledger(app=only)
    return [row for row in rows if apps is None or app_of(row.schedule) in apps]


def _of_schedule(
    service: Service, reader: EngineReader, caller: Caller, app: str, schedule: str
) -> list[LedgerRow]:
    """Return the line of a schedule: one with events, also if it was deleted, or a deployed one."""
    if app:
        app = known_app(service, reader, caller, app)
    only = app or caller.app
    apps = visible_apps(service, reader, caller)
    if only is not None and "/" not in schedule:
        schedule = f"{only}/{schedule}"
    with named(unknown=400, ambiguous=400):
        name = name_seen(reader, caller, schedule)
        rows = _line(reader, name) if apps is None or app_of(name) in apps else []
        ref = name if rows else find_schedule(reader, name, apps).ref
    if only not in (None, app_of(ref)):
        return []
    return rows or _line(reader, ref)


def _line(reader: EngineReader, ref: str) -> list[LedgerRow]:
    if "/" not in ref:
        return []
    return [row for row in reader.ledger(app=app_of(ref)) if row.schedule == ref]
