"""*Backfills*: what was asked for, how far each is, and buttons that start and cancel one.

/board/backfills       the list, the newest first, and the form for a new one
/board/backfills/3     its instances by business date, those with a status, and the button that cancels it
"""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.jobs import Job
from tidegate.listings.queries.jobs import public_job
from tidegate.project.local_time import common_zone
from tidegate.scheduler.commands.tasks.backfills import Backfill, Progress, progress
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.explain.instances.backfill_facts import counted, state_of
from tidegate.scheduler.model.instance import Status
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.board.back import back
from tidegate.server.board.page import PageRoute, page
from tidegate.server.body import as_form, read_form
from tidegate.server.page import Page, instant_key
from tidegate.server.problem import Problem, unknown_value
from tidegate.server.routes.backfills import (
    BackfillBody,
    Number,
    backfills_page,
    cancelled,
    check_backfill,
    started,
)
from tidegate.server.service import Here

router = APIRouter(prefix="/board/backfills", route_class=PageRoute, include_in_schema=False)

STATUSES = tuple(str(status) for status in Status if status is not Status.ABSENT)

Form = Annotated[dict[str, str], Depends(read_form)]


class Line(Value, kw_only=True):
    """A backfill.

    Attributes:
        state: what it is doing, in a word or two.
        counts: its instances by status.
    """

    backfill: Backfill
    state: str
    total: int
    counts: dict[str, int]


class Listed(Value, kw_only=True):
    """The list, the newest first."""

    items: tuple[Line, ...]
    next: str | None


class Shown(Value, kw_only=True):
    """One backfill.

    Attributes:
        by_date: its instances by business date and status, without empty runs.
        status: the only status whose instances are listed; "" for all.
        left: whether something is left to cancel.
        items: its instances, without empty runs.
    """

    line: Line
    by_date: dict[str, dict[str, int]]
    status: str
    statuses: tuple[str, ...]
    left: bool
    items: tuple[Job, ...]
    next: str | None


@router.get("", dependencies=[READ])
def list_page(
    request: Request, service: Here, caller: Called, page_of: Annotated[Page, Depends(Page)]
) -> Response:
    """List the backfills."""
    found, cursor = backfills_page(service, caller, page_of)
    with service.store.reading() as reader:
        zone = common_zone(reader, {each.backfill.app for each in found})
    view = Listed(items=tuple(_line(each) for each in found), next=cursor)
    return page(request, service, "backfills", "Backfills", view, zone)


@router.get("/{number}", dependencies=[READ])
def show_page(
    number: Number,
    request: Request,
    service: Here,
    caller: Called,
    page_of: Annotated[Page, Depends(Page)],
    status: str = "",
) -> Response:
    """Show how far a backfill is, and its instances."""
    if status not in ("", *STATUSES):
        raise unknown_value("status", status, STATUSES)
    with service.store.reading() as reader:
        check_backfill(service, reader, caller, number)
        found, jobs = progress(reader, number), reader.backfill(number)
        zone = common_zone(reader, {found.backfill.app})
    real = [job for job in jobs if not job.of_task.empty and status in ("", str(status_of(job)))]
    items, cursor = page_of.of(real, lambda job: instant_key(job.of_task.scheduled, job.id))
    waiting = (Status.NOT_RUN, Status.WAITING, Status.PAUSED)
    view = Shown(
        line=_line(found),
        by_date=counted(jobs, False),
        status=status,
        statuses=STATUSES,
        left=found.backfill.cancelled_at is None and any(status_of(job) in waiting for job in jobs),
        items=tuple(map(public_job, items)),
        next=cursor,
    )
    return page(request, service, "backfill", f"Backfill {number}", view, zone)


@router.post("", dependencies=[OPERATE])
def start(service: Here, caller: Called, form: Form) -> Response:
    """Start a backfill of a task, or of all tasks of an app."""
    done = started(service, caller, as_form(_asked(form), BackfillBody))
    return back(f"/board/backfills/{done['id']}", f"backfill {done['id']} is started")


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


def _line(found: Progress) -> Line:
    return Line(backfill=found.backfill, state=state_of(found), total=found.total, counts=found.counts)
