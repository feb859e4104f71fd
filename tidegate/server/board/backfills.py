"""*Backfill*: one with how far it is, by business date and status; the list is `listings.backfills`."""

from fastapi import APIRouter, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.backfills import ShownBackfill
from tidegate.listings.instances import INSTANCES, TaskInstance
from tidegate.listings.queries.backfills import shown_backfill
from tidegate.project.local_time import common_zone
from tidegate.scheduler.commands.backfills.request import backfill_of, progress
from tidegate.scheduler.model.instance import Status
from tidegate.server.access import READ, Called
from tidegate.server.board.actions import Offered, offered
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.subjects import of_backfill
from tidegate.server.listing import read_seen
from tidegate.server.page import LIMIT, Cursor, Limit
from tidegate.server.problem import unknown_value
from tidegate.server.routes.backfills import Number, check_backfill
from tidegate.server.service import Here

router = APIRouter(prefix="/board/backfills", route_class=PageRoute, include_in_schema=False)

STATUSES = tuple(str(status) for status in Status if status is not Status.ABSENT)


class Shown(Value, kw_only=True):
    """One backfill.

    Attributes:
        status: the only status whose instances are listed; "" for all.
        menu: what can be done to it.
        items: its instances, without empty runs.
    """

    line: ShownBackfill
    menu: tuple[Offered, ...]
    status: str
    statuses: tuple[str, ...]
    items: tuple[TaskInstance, ...]
    next: str | None


@router.get("/{number}", dependencies=[READ])
def show_page(
    number: Number,
    request: Request,
    service: Here,
    caller: Called,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    status: str = "",
) -> Response:
    """Show how far a backfill is, and its instances."""
    if status not in ("", *STATUSES):
        raise unknown_value("status", status, STATUSES)
    with service.store.reading() as reader:
        check_backfill(service, reader, caller, number)
        found = shown_backfill(reader, progress(reader, number))
        zone = common_zone(reader, {found.app})
        menu = offered(of_backfill(backfill_of(reader, number)), reader, service.clock(), caller)
    given = {"task": "", "backfill": number, "status": status, "empty": False}
    rows = read_seen(service, caller, INSTANCES, given, limit, cursor)
    view = Shown(
        line=found,
        menu=menu,
        status=status,
        statuses=STATUSES,
        items=tuple(rows.items),
        next=rows.next,
    )
    return page(request, service, "backfill", f"Backfill {number}", view, zone)
