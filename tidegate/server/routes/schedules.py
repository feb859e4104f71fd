"""Schedules of an app: create, read, change, delete, switch and trigger."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from tidegate.domain.partition_key import WrittenKey
from tidegate.domain.value import Value
from tidegate.listings.queries.schedules import public_schedule
from tidegate.listings.schedules import SCHEDULES, Schedule
from tidegate.project.one_schedule import changed_text
from tidegate.scheduler.commands.by_hand.manual import resume, suspend, trigger
from tidegate.scheduler.commands.deployment.schedules import delete_schedules, put_schedule
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.server.access import ADMIN, OPERATE, READ, Called
from tidegate.server.body import as_form, read_object, read_optional
from tidegate.server.contract import ANY_OBJECT, contract, json_answer
from tidegate.server.deployed import (
    check_new_name,
    deployed_app,
    discarded,
    program_of,
    schedule_of,
)
from tidegate.server.forms.action import until_of
from tidegate.server.forms.schedule import EXAMPLE, check_match, etag, spec_of
from tidegate.server.listing import add_route
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service
from tidegate.server.specification import compiled_schedule
from tidegate.server.visible import refused_to

router = APIRouter(prefix="/apps/{app}", tags=["schedules"])

Reason = Annotated[str, Query(description="Why, for the journal.", max_length=1000)]
Expires = Annotated[
    str,
    Query(
        description="When it reverts: after a duration such as 4h, at an instant, or never.", max_length=40
    ),
]
Flag = Literal["true", "false"]
ReplaceProgram = Annotated[Flag, Query(description="Allow another program than before.")]
REASON: dict[str, Any] = {"type": "object", "properties": {"reason": {"type": "string"}}}


class Reasoned(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of an action.

    Attributes:
        expires: when it reverts: after a duration such as "4h", at an instant, or "never".
    """

    reason: str = ""
    expires: str = ""


class TriggerByHand(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a trigger by hand.

    Attributes:
        key: the partition or period of a schedule with `for_each`: its text, or a mapping such as
            {"day": "2026-03-09", "origin": "JFK"}, as in the YAML.
        force: override all constraints but concurrency.
    """

    key: WrittenKey = ""
    force: bool = False
    reason: str = ""


class TriggeredJob(Value, kw_only=True):
    """The job that a trigger made due.

    Attributes:
        job: its id.
    """

    job: str


class ScheduleStatus(Value, kw_only=True):
    """The status of a schedule.

    Attributes:
        status: what holds now.
    """

    status: Literal["active", "suspended"]


class Deleted(Value, kw_only=True):
    """What a deletion removed, and the number of its jobs that are discarded.

    Attributes:
        deleted: names of schedules or apps.
        discarded_jobs: how many of their jobs are discarded.
    """

    deleted: tuple[str, ...]
    discarded_jobs: int


def _app_there(app: str, service: Here) -> None:
    with service.store.reading() as reader:
        deployed_app(service, reader, app)


def _program_there(app: str, program: str, service: Here) -> None:
    with service.store.reading() as reader:
        program_of(deployed_app(service, reader, app), program)


add_route(router, SCHEDULES, "/schedules", _app_there)
for _kind in ("programs", "workflows"):
    add_route(router, SCHEDULES, f"/{_kind}/{{program}}/schedules", _program_there)


@router.get("/schedules/{s}", dependencies=[READ], **contract(Schedule))
def show(app: str, s: str, service: Here) -> Response:
    """Show a schedule."""
    with service.store.reading() as reader:
        state = schedule_of(service, reader, app, s)
    return _answer(service, state)


@router.get("/schedules/{s}/status", dependencies=[READ], **contract(ScheduleStatus))
def status(app: str, s: str, service: Here) -> Response:
    """Show the status of a schedule."""
    with service.store.reading() as reader:
        return json_answer(ScheduleStatus(status=schedule_of(service, reader, app, s).status))


@router.put(
    "/schedules/{s}",
    dependencies=[ADMIN],
    **contract(Schedule, body=ANY_OBJECT, example=EXAMPLE, errors=(409, 412)),
)
def create(
    app: str,
    s: str,
    request: Request,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_object)],
    reason: Reason = "",
    expires: Expires = "",
) -> Response:
    """Create a schedule; it is suspended unless its `status` is `active`."""
    check_new_name(s)
    now = service.clock()
    until = until_of(expires, now)
    with service.store.transaction() as transaction:
        deployed = deployed_app(service, transaction, app)
        spec = spec_of(body, s)
        known = _known(transaction, app, s)
        check_match(request, known)
        if known is not None:
            raise Problem(409, f'app {app} has a schedule "{s}" already', hint="change it with /update")
        _check_program(deployed, spec)
        compiled = compiled_schedule(service, transaction, caller, app, s, spec)
        with refused_to(transaction, caller):
            put_schedule(transaction, app, compiled, now, caller.by(reason), until)
        state = schedule_of(service, transaction, app, s)
    return _answer(service, state)


@router.post(
    "/schedules/{s}/update",
    dependencies=[ADMIN],
    **contract(Schedule, body=ANY_OBJECT, example={"args": {"late_after_minutes": 30}}, errors=(409, 412)),
)
def update(
    app: str,
    s: str,
    request: Request,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_object)],
    replace_program: ReplaceProgram = "false",
    reason: Reason = "",
    expires: Expires = "",
) -> Response:
    """Replace the given keys of a schedule; those that are null or left out keep their values."""
    now = service.clock()
    until = until_of(expires, now)
    with service.store.transaction() as transaction:
        deployed = deployed_app(service, transaction, app)
        state = schedule_of(service, transaction, app, s)
        check_match(request, state)
        given = spec_of({key: value for key, value in body.items() if value is not None}, s)
        if "status" in given:
            raise Problem(400, "an update changes no status", hint="use /enable and /disable")
        if given.get("program", state.spec.program) != state.spec.program:
            if replace_program == "false":
                hint = "add ?replace_program=true if that is meant"
                raise Problem(400, f"the program of {app}/{s} is {state.spec.program}", hint=hint)
            _check_program(deployed, given)
        wanted = changed_text(state, given)
        compiled = compiled_schedule(service, transaction, caller, app, s, wanted, before=state)
        with refused_to(transaction, caller):
            put_schedule(transaction, app, compiled, now, caller.by(reason), until)
        state = schedule_of(service, transaction, app, s)
    return _answer(service, state)


@router.delete("/schedules/{s}", dependencies=[ADMIN], **contract(Deleted, errors=(409, 412)))
def delete(
    app: str, s: str, request: Request, service: Here, caller: Called, reason: Reason = ""
) -> Response:
    """Delete a schedule and discard its waiting jobs."""
    with service.store.transaction() as transaction:
        state = schedule_of(service, transaction, app, s)
        check_match(request, state)
        with refused_to(transaction, caller):
            changes = delete_schedules(transaction, [state.ref], service.clock(), by=caller.by(reason))
    return json_answer(Deleted(deleted=(s,), discarded_jobs=discarded(changes)))


@router.post(
    "/schedules/{s}/trigger",
    dependencies=[OPERATE],
    **contract(
        TriggeredJob,
        status=202,
        body=TriggerByHand,
        example={"key": "2026-03-09", "reason": "late data"},
        optional=True,
        errors=(409,),
    ),
)
def trigger_by_hand(
    app: str, s: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Count the trigger of a schedule as satisfied; the next tick decides about the job."""
    wanted = as_form(body, TriggerByHand)
    with service.store.transaction() as transaction:
        state = schedule_of(service, transaction, app, s)
        if state.spec.task is not None:
            raise Problem(409, f"{state.ref} is a task, which has instances and no trigger")
        with refused_as(400):
            by = caller.by(wanted.reason)
            job = trigger(transaction, state.ref, service.clock(), wanted.key, wanted.force, by=by)
    return json_answer(TriggeredJob(job=job.id), 202)


SWITCHES = {"enable": resume, "resume": resume, "disable": suspend, "suspend": suspend}


@router.post(
    "/schedules/{s}/{action}",
    dependencies=[OPERATE],
    **contract(
        Schedule, body=Reasoned, example={"reason": "the feed is late"}, optional=True, errors=(409, 412)
    ),
)
def switch(
    app: str,
    s: str,
    action: str,
    request: Request,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_optional)],
) -> Response:
    """Enable (or resume) a schedule, disable (or suspend) it."""
    change = SWITCHES.get(action)
    if change is None:
        raise Problem(400, f'unknown action "{action:.100}"', hint=f"one of {', '.join(SWITCHES)}")
    wanted, now = as_form(body, Reasoned), service.clock()
    until = until_of(wanted.expires, now)
    with service.store.transaction() as transaction:
        state = schedule_of(service, transaction, app, s)
        check_match(request, state)
        with refused_as(409):
            changed = change(transaction, state.ref, now, caller.by(wanted.reason), until)
        if not changed:
            raise Problem(409, f"{state.ref} is {state.status} already")
        state = schedule_of(service, transaction, app, s)
    return _answer(service, state)


def _known(transaction: EngineTransaction, app: str, name: str) -> ScheduleState | None:
    return next(iter(transaction.schedules(refs=[f"{app}/{name}"])), None)


def _check_program(deployed: DeployedApp, spec: dict[str, Any]) -> None:
    """Refuse a program that the app does not have; the compiler refuses what cannot be a name.

    Raises:
        Problem: 404.
    """
    name = spec.get("program")
    if isinstance(name, str) and "/" not in name:
        program_of(deployed, name)


def _answer(service: Service, state: ScheduleState) -> Response:
    return json_answer(public_schedule(service.namespace, state), headers={"ETag": etag(state)})
