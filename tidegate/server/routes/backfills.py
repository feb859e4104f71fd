"""Backfills: start one, see how far it is, and cancel it."""

from itertools import islice
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Response

from tidegate.domain.model import Priority
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.backfills import (
    Progress,
    Wanted,
    backfill_of,
    cancel_backfill,
    newest_backfills,
    progress,
    progress_of,
    start_backfill_once,
)
from tidegate.scheduler.explain.instances.backfill_facts import backfill_facts, counted
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_object, read_optional
from tidegate.server.contract import ANY_OBJECT, contract, json_answer, listed, page_of
from tidegate.server.deployed import check_name, own_apps
from tidegate.server.page import Page, WholeNumber, before_number
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.schedules import Reasoned
from tidegate.server.routes.task_reports import Request
from tidegate.server.service import Here, Service
from tidegate.server.tasks import check_tasks, task_of, whole_ref
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/backfills", tags=["backfills"])

NUMBER_MAX = 2**31 - 1

Number = Annotated[int, WholeNumber, Path(ge=1, le=NUMBER_MAX, description="The number of a backfill.")]

Lot = Annotated[int, msgspec.Meta(le=1_000_000)]


class BackfillBody(Value, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The body of a backfill.

    Attributes:
        task: a task; or `app`, all tasks of an app.
        from_: the first business date.
        to: the last one, included.
        lot: how many business dates run at once.
        upstream: run all upstream tasks for these dates too.
        only: the only tasks of them.
        priority: the place of its instances among all ready jobs; without it behind every other one.
        request: a key of the caller's: a second call with it starts nothing.
    """

    task: str | None = None
    app: str | None = None
    from_: str
    to: str
    lot: Lot = 1
    upstream: bool = False
    only: tuple[str, ...] = ()
    priority: Priority | None = None
    request: Request | None = None
    reason: str = ""


EXAMPLE = {
    "task": "shop.daily_revenue",
    "from": "2026-03-01",
    "to": "2026-03-03",
    "lot": 2,
    "request": "fix-17",
}


@router.post(
    "",
    dependencies=[OPERATE],
    **contract(
        ANY_OBJECT, status=202, body=BackfillBody, example=EXAMPLE, errors=(409,), also={200: ANY_OBJECT}
    ),
)
def start(service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)]) -> Response:
    """Start a backfill of a task, or of all tasks of an app, for some business dates.

    The same `request` again starts nothing, and answers how far the backfill is.
    """
    answer = started(service, caller, as_form(body, BackfillBody))
    return json_answer(answer, 200 if "repeated" in answer else 202)


def started(service: Service, caller: Caller, asked: BackfillBody) -> dict[str, Any]:
    """Start a backfill, and return it, with `repeated` if an earlier call with its `request` has started it.

    Raises:
        Problem: 400, 403, 404 or 409; nothing has been started.
    """
    if (asked.task is None) == (asked.app is None):
        raise Problem(400, "name either a `task` or an `app`")
    with service.store.transaction() as transaction:
        wanted = Wanted(
            **_target(service, transaction, caller, asked),
            from_=asked.from_,
            to=asked.to,
            lot=asked.lot,
            upstream=asked.upstream,
            only=tuple(whole_ref(service, name) for name in asked.only),
            priority=asked.priority,
        )
        with refused_as(409):
            now, by = service.clock(), caller.by(asked.reason)
            made, repeated = start_backfill_once(transaction, wanted, now, by, asked.request or "")
        check_tasks(service, transaction, caller, made.tasks)
        shown = _shown(transaction, progress(transaction, made.number))
        return {**shown, "repeated": True} if repeated else shown


@router.get("", dependencies=[READ], **contract(page_of(ANY_OBJECT)))
def list_backfills(service: Here, caller: Called, page: Annotated[Page, Depends(Page)]) -> Response:
    """List the backfills, the newest first: what was asked for, its state, and its instances by status."""
    found, cursor = backfills_page(service, caller, page)
    return listed([{"id": each.backfill.number, **backfill_facts(each)} for each in found], cursor)


def backfills_page(service: Service, caller: Caller, page: Page) -> tuple[list[Progress], str | None]:
    """Return a page of the backfills whose tasks a caller sees, and the cursor of the next one."""
    with service.store.reading() as reader:
        apps = visible_apps(service, reader, caller)
        seen = (
            each
            for each in newest_backfills(reader, before_number(page, NUMBER_MAX))
            if apps is None or {app_of(ref) for ref in each.tasks} <= apps
        )
        found, cursor = page.cut(list(islice(seen, page.limit + 1)), lambda each: (each.number,))
        return list(progress_of(reader, found)), cursor


@router.get("/{id}", dependencies=[READ], **contract(ANY_OBJECT))
def show(id: Number, service: Here, caller: Called) -> Response:
    """Show how far a backfill is, as a whole and by business date."""
    with service.store.reading() as reader:
        check_backfill(service, reader, caller, id)
        return json_answer(_shown(reader, progress(reader, id)))


@router.post(
    "/{id}/cancel",
    dependencies=[OPERATE],
    **contract(
        ANY_OBJECT, body=Reasoned, optional=True, errors=(409,), example={"reason": "the wrong dates"}
    ),
)
def cancel(
    id: Number, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Discard the instances of a backfill that do not run yet; what runs or is done stays."""
    return json_answer(cancelled(service, caller, id, as_form(body, Reasoned).reason))


def cancelled(service: Service, caller: Caller, number: int, reason: str) -> dict[str, Any]:
    """Cancel a backfill, and return what is left of it.

    Raises:
        Problem: 403, 404, or 409 if nothing is left to cancel.
    """
    with service.store.transaction() as transaction:
        check_backfill(service, transaction, caller, number)
        with refused_as(409):
            left = cancel_backfill(transaction, number, service.clock(), caller.by(reason))
        return _shown(transaction, left)


def _target(service: Service, reader: EngineReader, caller: Caller, asked: BackfillBody) -> dict[str, str]:
    if asked.task is not None:
        state = task_of(service, reader, caller, asked.task)
        return {"app": state.app, "task": state.name}
    app = asked.app or ""
    check_name(app)
    caller.check_app(app)
    if app not in own_apps(service, reader):
        raise Problem(404, f'there is no app "{app}"', code="E-TASK")
    return {"app": app}


def check_backfill(service: Service, reader: EngineReader, caller: Caller, number: int) -> None:
    """Refuse a backfill that is unknown, or has tasks that the caller may not touch.

    Raises:
        Problem: 403 or 404.
    """
    with refused_as(404):
        check_tasks(service, reader, caller, backfill_of(reader, number).tasks)


def _shown(reader: EngineReader, of: Progress) -> dict[str, Any]:
    number = of.backfill.number
    return {"id": number, **backfill_facts(of), "by_date": counted(reader.backfill(number), False)}
