"""Backfills: start one, see how far it is, cancel it, and resume it."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Response
from msgspec.structs import asdict

from tidegate.domain.model import Priority
from tidegate.domain.value import Value
from tidegate.listings.backfills import ShownBackfill
from tidegate.listings.queries.backfills import shown_backfill
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill, resume_backfill
from tidegate.scheduler.commands.backfills.request import Backfill, Wanted, Which, backfill_of, progress
from tidegate.scheduler.commands.backfills.start import start_backfill_once
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_object, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import check_name, own_apps
from tidegate.server.page import WholeNumber
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.schedules import Reasoned
from tidegate.server.routes.task_reports import Request
from tidegate.server.service import Here, Service
from tidegate.server.tasks import check_tasks, task_of, whole_ref

router = APIRouter(prefix="/backfills", tags=["backfills"])

NUMBER_MAX = 2**31 - 1

Number = Annotated[int, WholeNumber, Path(ge=1, le=NUMBER_MAX, description="The number of a backfill.")]

Lot = Annotated[int, msgspec.Meta(le=1_000_000)]

Keys = Annotated[tuple[str, ...], msgspec.Meta(max_length=10_000)]


class BackfillBody(Value, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The body of a backfill.

    Attributes:
        name: a schedule or a task. Without it all tasks of `app`.
        task: the same, without `app`.
        app: the app of the name.
        from_: the first business date or key of a range.
        to: the last one, included.
        keys: in place of a range, single dates or keys.
        which: only those that are missing, failed or stale; `all` by default.
        lot: how many dates run at once.
        upstream: run all upstream tasks and schedules for these dates too.
        only: the only tasks of them.
        priority: the place of its instances among all ready jobs; without it behind every other one.
        quiet_downstream: what it publishes starts no schedule.
        request: a key of the caller's: a second call with it starts nothing.
    """

    name: str | None = None
    task: str | None = None
    app: str | None = None
    from_: str | None = None
    to: str | None = None
    keys: Keys = ()
    which: Which = "all"
    lot: Lot = 1
    upstream: bool = False
    only: tuple[str, ...] = ()
    priority: Priority | None = None
    quiet_downstream: bool = False
    request: Request | None = None
    reason: str = ""


class RepeatedBackfill(ShownBackfill, kw_only=True):
    """A backfill that an earlier call with the same `request` has started.

    Attributes:
        repeated: always true.
    """

    repeated: bool = True


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
        ShownBackfill,
        status=202,
        body=BackfillBody,
        example=EXAMPLE,
        errors=(409,),
        also={200: RepeatedBackfill},
    ),
)
def start(service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)]) -> Response:
    """Start a backfill of a schedule or a task, or of all tasks of an app, for some dates or keys.

    The same `request` again starts nothing, and answers how far the backfill is.
    """
    answer, repeated = start_backfill(service, caller, as_form(body, BackfillBody))
    return json_answer(RepeatedBackfill(**asdict(answer)), 200) if repeated else json_answer(answer, 202)


def start_backfill(service: Service, caller: Caller, asked: BackfillBody) -> tuple[ShownBackfill, bool]:
    """Start a backfill, and return it, and whether an earlier call with its `request` has started it.

    Raises:
        Problem: 400, 403, 404 or 409; nothing has been started.
    """
    with service.store.transaction() as transaction:
        made, repeated = start_within(service, transaction, caller, asked)
        return shown_backfill(transaction, progress(transaction, made.number)), repeated


def start_within(
    service: Service, transaction: EngineTransaction, caller: Caller, asked: BackfillBody
) -> tuple[Backfill, bool]:
    """Start a backfill within a transaction, as `start_backfill`.

    Raises:
        Problem: see there.
    """
    name = asked.name if asked.task is None else asked.task
    several = asked.task is not None and (asked.name is not None or asked.app is not None)
    if several or (name is None and asked.app is None):
        raise Problem(400, "name a schedule or a task as `name`, or an `app`")
    if bool(asked.keys) == (asked.from_ is not None or asked.to is not None):
        raise Problem(400, "name a range with `from` and `to`, or single `keys`")
    if not asked.keys and (asked.from_ is None or asked.to is None):
        raise Problem(400, "a range needs both `from` and `to`")
    wanted = Wanted(
        **_target(service, transaction, caller, name, asked.app),
        from_=asked.from_,
        to=asked.to,
        keys=asked.keys,
        which=asked.which,
        lot=asked.lot,
        upstream=asked.upstream,
        only=tuple(whole_ref(service, name) for name in asked.only),
        priority=asked.priority,
        quiet_downstream=asked.quiet_downstream,
    )
    with refused_as(409):
        now, by = service.clock(), caller.by(asked.reason)
        made, repeated = start_backfill_once(transaction, wanted, now, by, asked.request or "")
    check_tasks(service, transaction, caller, made.tasks)
    return made, repeated


@router.get("/{id}", dependencies=[READ], **contract(ShownBackfill))
def show(id: Number, service: Here, caller: Called) -> Response:
    """Show how far a backfill is, as a whole and by business date."""
    with service.store.reading() as reader:
        check_backfill(service, reader, caller, id)
        return json_answer(shown_backfill(reader, progress(reader, id)))


@router.post(
    "/{id}/cancel",
    dependencies=[OPERATE],
    **contract(
        ShownBackfill, body=Reasoned, optional=True, errors=(409,), example={"reason": "the wrong dates"}
    ),
)
def cancel(
    id: Number, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Discard the instances of a backfill that do not run yet; what runs or is done stays."""
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        check_backfill(service, transaction, caller, id)
        with refused_as(409):
            left = cancel_backfill(transaction, id, service.clock(), by)
        return json_answer(shown_backfill(transaction, left))


@router.post(
    "/{id}/resume",
    dependencies=[OPERATE],
    **contract(
        ShownBackfill, body=Reasoned, optional=True, errors=(409,), example={"reason": "the dates were right"}
    ),
)
def resume(
    id: Number, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Make again exactly the instances that the cancel of a backfill has discarded."""
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        check_backfill(service, transaction, caller, id)
        with refused_as(409):
            left = resume_backfill(transaction, id, service.clock(), by)
        return json_answer(shown_backfill(transaction, left))


def _target(
    service: Service, reader: EngineReader, caller: Caller, name: str | None, app: str | None
) -> dict[str, str]:
    if app is not None:
        check_name(app)
        caller.check_app(app)
        if app not in own_apps(service, reader):
            raise Problem(404, f'there is no app "{app}"', code="E-TASK")
    if name is None:
        return {"app": app or ""}
    whole = name if app is None or "/" in name or "." in name else f"{app}/{name}"
    state = task_of(service, reader, caller, whole, or_schedule=True)
    if app is not None and state.app != app:
        raise Problem(404, f'app {app} has no schedule "{name}"', code="E-TASK")
    return {"app": state.app, "task": state.name}


def check_backfill(service: Service, reader: EngineReader, caller: Caller, number: int) -> None:
    """Refuse a backfill that is unknown, or has tasks that the caller may not touch.

    Raises:
        Problem: 403 or 404.
    """
    with refused_as(404):
        check_tasks(service, reader, caller, backfill_of(reader, number).tasks)
