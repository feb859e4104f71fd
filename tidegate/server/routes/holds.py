"""Holds: nothing of an app is launched until a person releases it, as `tidegate apps hold` and `release`."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response

from tidegate.domain.value import Value
from tidegate.scheduler.commands.by_hand.held_apps import hold_app, hold_of, release_app
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.held_apps import Hold, held_apps
from tidegate.server.access import OPERATE, Called, Caller
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import check_name, deployed_app
from tidegate.server.forms.action import until_of
from tidegate.server.problem import Problem
from tidegate.server.routes.schedules import REASON, Reasoned
from tidegate.server.service import Here, Service

router = APIRouter(prefix="/apps", tags=["apps"])

Action = Literal["hold", "release"]


class HeldApp(Value, kw_only=True):
    """An app that is on hold.

    Attributes:
        app: its name.
        since: when it was put on hold.
        by, reason: who did that, and why.
        deployed: whether it still is.
        expires_at: when it is released by itself; None for never.
    """

    app: str
    since: datetime
    by: str
    reason: str
    expires_at: datetime | None
    deployed: bool


class Launches(Value, kw_only=True):
    """Whether an app is launched.

    Attributes:
        app: its name.
        hold: who holds it, why and until when; None if it is not on hold.
    """

    app: str
    hold: HeldApp | None


@router.post(
    "/{app}/hold",
    dependencies=[OPERATE],
    **contract(
        Launches,
        body=Reasoned,
        optional=True,
        example={"reason": "the cluster is upgraded", "expires": "30m"},
        errors=(409,),
    ),
)
def hold(
    app: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Launch nothing of an app until it is released; events still count, and nothing is discarded."""
    wanted = as_form(body, Reasoned)
    return json_answer(switched(service, caller, app, "hold", wanted.reason, wanted.expires))


@router.post(
    "/{app}/release",
    dependencies=[OPERATE],
    **contract(
        Launches, body=REASON, optional=True, example={"reason": "the cluster is back"}, errors=(409,)
    ),
)
def release(
    app: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Launch an app again: first what was decided meanwhile."""
    return json_answer(switched(service, caller, app, "release", as_form(body, Released).reason))


class Released(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a release."""

    reason: str = ""


def switched(
    service: Service, caller: Caller, app: str, action: Action, reason: str, expires: str = ""
) -> Launches:
    """Hold or release an app; one that is no longer deployed can only be released.

    Args:
        expires: when the hold ends by itself; given for an app on hold, it changes when.

    Raises:
        Problem: 404 for an unknown app, 409 for one that is already so, 400 for a malformed expiry.
    """
    now = service.clock()
    until = until_of(expires, now)
    with service.store.transaction() as transaction:
        check_name(app)
        gone = app in held_apps(transaction) and not transaction.records(APPS, name=[app])
        if action == "hold" or not gone:
            deployed_app(service, transaction, app)
        if action == "hold":
            changed = hold_app(transaction, app, now, caller.by(reason), until)
        else:
            changed = release_app(transaction, app, now, caller.by(reason))
        if not changed:
            raise Problem(409, f"{app} is {'on hold already' if action == 'hold' else 'not on hold'}")
        found = {each.app: each for each in held(transaction, lambda name: name == app)}
    return Launches(app=app, hold=found.get(app))


def held(reader: EngineReader, sees: Callable[[str], bool]) -> tuple[HeldApp, ...]:
    """Return the apps on hold that a caller sees, by name."""
    found = {app: each for app, each in sorted(held_apps(reader).items()) if sees(app)}
    deployed = {each.name for each in reader.app_headers()} if found else frozenset[str]()
    return tuple(_held(reader, app, each, app in deployed) for app, each in found.items())


def _held(reader: EngineReader, app: str, hold: Hold, deployed: bool) -> HeldApp:
    override = hold_of(reader, app)
    return HeldApp(
        app=app,
        since=hold.at,
        by=hold.by,
        reason="" if override is None else override.reason,
        expires_at=None if override is None else override.expires_at,
        deployed=deployed,
    )
