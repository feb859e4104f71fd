"""*Backfills*: what was asked for, how far each is, and buttons that start and cancel one.

/board/backfills       the list, the newest first, and the form for a new one
/board/backfills/3     its instances by business date, those with a status, and the button that cancels it
"""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.backfills import ShownBackfill
from tidegate.listings.instances import INSTANCES, TaskInstance
from tidegate.listings.queries.backfills import shown_backfill
from tidegate.project.local_time import common_zone
from tidegate.scheduler.commands.tasks.backfills import progress
from tidegate.scheduler.model.instance import Status
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.board.page import PageRoute, back, page
from tidegate.server.body import as_form, read_form
from tidegate.server.listing import read_seen
from tidegate.server.page import LIMIT, Cursor, Limit
from tidegate.server.problem import Problem, unknown_value
from tidegate.server.routes.backfills import (
    BackfillBody,
    Number,
    cancelled,
    check_backfill,
    start_backfill,
)
from tidegate.server.service import Here

router = APIRouter(prefix="/board/backfills", route_class=PageRoute, include_in_schema=False)

STATUSES = tuple(str(status) for status in Status if status is not Status.ABSENT)

Form = Annotated[dict[str, str], Depends(read_form)]


class Shown(Value, kw_only=True):
    """One backfill.

    Attributes:
        status: the only status whose instances are listed; "" for all.
        left: whether something is left to cancel.
        items: its instances, without empty runs.
    """

    line: ShownBackfill
    status: str
    statuses: tuple[str, ...]
    left: bool
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
    given = {"task": "", "backfill": number, "status": status, "empty": False}
    rows = read_seen(service, caller, INSTANCES, given, limit, cursor)
    waiting = found.backfill.cancelled_at is None and ("not_run", "waiting", "paused")
    view = Shown(
        line=found,
        status=status,
        statuses=STATUSES,
        left=any(found.counts[each] for each in waiting or ()),
        items=tuple(rows.items),
        next=rows.next,
    )
    return page(request, service, "backfill", f"Backfill {number}", view, zone)


@router.post("", dependencies=[OPERATE])
def start(service: Here, caller: Called, form: Form) -> Response:
    """Start a backfill of a task, or of all tasks of an app."""
    done, _ = start_backfill(service, caller, as_form(_asked(form), BackfillBody))
    return back(f"/board/backfills/{done.id}", f"backfill {done.id} is started")


@router.post("/{number}/cancel", dependencies=[OPERATE])
def cancel(number: Number, service: Here, caller: Called, form: Form) -> Response:
    """Discard the instances of a backfill that do not run yet."""
    cancelled(service, caller, number, form.get("reason", "").strip())
    return back(f"/board/backfills/{number}", f"backfill {number} is cancelled; what runs or is done stays")


def _asked(form: dict[str, str]) -> dict[str, Any]:
    """Return the body of a call that asks for the same as a form."""
    given = {name: value.strip() for name, value in form.items() if value.strip()}
    body: dict[str, Any] = {
        name: given[name] for name in ("task", "app", "from", "to", "priority", "reason") if name in given
    }
    try:
        lot = msgspec.convert(given.get("lot", "1"), int, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(400, f"a lot is a whole number of business dates, got {given['lot']!r:.100}") from error
    return {**body, "lot": lot, "upstream": given.get("upstream") == "on"}
