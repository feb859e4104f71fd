"""What is late: jobs of schedules and tasks, and periods of datasets."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.scheduler.explain.lateness import Late, lateness
from tidegate.scheduler.explain.names import find_dataset
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import contract, listed, page_of
from tidegate.server.page import EPOCH, Page
from tidegate.server.service import Here, Service
from tidegate.server.visible import known_app, name_seen, named, visible_apps

router = APIRouter(tags=["records"])

LATE_READ = 10_000
"""The newest deadlines that were missed; older ones are not listed."""

MICROSECOND = timedelta(microseconds=1)


@router.get("/late", dependencies=[READ], **contract(page_of(Late)))
def list_late(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    app: Annotated[str, Query(description="Only of this app.")] = "",
    dataset: Annotated[str, Query(description='"app/dataset", or its name if one app has it.')] = "",
    now: Annotated[bool, Query(description="Only what is late now; else also what has landed since.")] = True,
) -> Response:
    """List jobs and data that have missed their deadline, the newest deadline first."""
    return listed(*late_page(service, caller, page, app, dataset, now))


def late_page(
    service: Service, caller: Caller, page: Page, app: str, dataset: str, now: bool
) -> tuple[list[Late], str | None]:
    """Return a page of what is late and a caller sees, and the cursor of the next one.

    Args:
        now: only what is late now; else also what has landed since.

    Raises:
        Problem: 400 for an unknown app or dataset, 403 for one of another app than the token's.
    """
    with service.store.reading() as reader:
        if app:
            app = known_app(service, reader, caller, app)
        apps = {app} if app else visible_apps(service, reader, caller)
        whole = None
        if dataset:
            only = app or caller.app
            name = dataset if only is None or "/" in dataset else f"{only}/{dataset}"
            with named(unknown=400, ambiguous=400):
                name = name_seen(reader, caller, name)
                whole = find_dataset(reader, name, visible_apps(service, reader, caller))
        found = lateness(reader, LATE_READ, apps=apps, dataset=whole, now=now)
    return page.of(found, _key)


def _key(each: Late) -> tuple[int, str, str, str, str]:
    due = 0 if each.due is None else (each.due - EPOCH) // MICROSECOND
    return -due, each.kind, each.name, each.key, each.job
