"""Records of the engine: the ledger of events, and the deployments."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tidegate.scheduler.explain.ledger_line import ledger_line
from tidegate.scheduler.explain.names import find_schedule
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.protocol import LedgerRow, Reader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import ANY_OBJECT, contract, listed, page_of
from tidegate.server.page import Page, foreign
from tidegate.server.service import Here, Service
from tidegate.server.visible import check_known_app, named, visible_apps

router = APIRouter(tags=["records"])

NUMBER_MAX = 2**63 - 1


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
            ref = _ref(reader, caller, name, {row.schedule for row in rows})
            rows = [row for row in rows if row.schedule == ref]
    return listed(*page.of([ledger_line(row) for row in rows], lambda line: (line["schedule"],)))


def ledger_rows(service: Service, reader: Reader, caller: Caller, app: str) -> list[LedgerRow]:
    """Return the lines that a caller sees, of one app or of all.

    Raises:
        Problem: 400 for an unknown app, 403 for one of another than the token's.
    """
    if app:
        check_known_app(service, reader, caller, app)
    apps = visible_apps(service, reader, caller)
    rows = reader.ledger(app=app or caller.app)
    return [row for row in rows if apps is None or row.schedule.partition("/")[0] in apps]


@router.get("/deployments", dependencies=[READ], **contract(page_of(ANY_OBJECT)))
def deployments(service: Here, caller: Called, page: Annotated[Page, Depends(Page)]) -> Response:
    """List the deployments, the newest first: when, by whom, why, and what each changed."""
    return listed(*deployments_page(service, caller, page))


def deployments_page(service: Service, caller: Caller, page: Page) -> tuple[list[dict[str, Any]], str | None]:
    """Return a page of the deployments that a caller sees, and the cursor of the next one."""
    found: list[dict[str, Any]] = []
    with service.store.reading() as reader:
        apps, before = visible_apps(service, reader, caller), _before(page)
        while len(found) <= page.limit:
            entries = reader.deployments(before, page.limit + 1)
            found += [
                shown for number, entry in entries if (shown := _deployment(number, entry, apps)) is not None
            ]
            if len(entries) <= page.limit:
                break
            before = entries[-1][0]
    return page.cut(found, lambda each: (each["number"],))


def _deployment(number: int, entry: Entry, apps: frozenset[str] | None) -> dict[str, Any] | None:
    """Return a deployment with those of its changes that the caller sees; None without any."""
    changed = {name: change for name, change in entry.data["apps"].items() if apps is None or name in apps}
    if not changed and apps is not None:
        return None
    return {
        "number": number,
        "at": entry.at,
        "by": entry.data.get("by", ""),
        "reason": entry.data.get("why", ""),
        "update_schedules": entry.data["update_schedules"],
        "force": entry.data["force"],
        "apps": changed,
    }


def _before(page: Page) -> int | None:
    match page.after:
        case None:
            return None
        case (int(number),) if 0 <= number <= NUMBER_MAX:
            return number
        case _:
            raise foreign()


def _ref(reader: Reader, caller: Caller, name: str, known: set[str]) -> str:
    """Return the ref of a schedule: one with events, also if it was deleted, or a deployed one."""
    if "/" in name:
        caller.check_app(name.partition("/")[0])
        if name in known:
            return name
    with named(unknown=400, ambiguous=400):
        return find_schedule(reader, name).ref
