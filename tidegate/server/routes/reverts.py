"""The overrides of a schedule: what was changed by hand, and its revert to what it was."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.listings.overrides import Override
from tidegate.listings.queries.overrides import public_overrides
from tidegate.scheduler.commands.reverts import of_part, revert
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import check_name, deployed_app
from tidegate.server.forms.schedule import check_match
from tidegate.server.problem import Problem
from tidegate.server.service import Here
from tidegate.server.visible import refused_to

router = APIRouter(prefix="/apps/{app}", tags=["schedules"])


class Overrides(Value, kw_only=True):
    """What was changed of a schedule by hand.

    Attributes:
        overrides: as the list of overrides has them.
    """

    overrides: list[Override]


class Reverted(Value, kw_only=True):
    """What was reverted.

    Attributes:
        reverted: as the list of overrides had them.
    """

    reverted: list[Override]


class Revert(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a revert.

    Attributes:
        only: the override of the status, or that of the text; both where it is left out.
    """

    reason: str = ""
    only: Literal["status", "text"] | None = None


@router.get("/schedules/{s}/overrides", dependencies=[READ], **contract(Overrides))
def show_overrides(app: str, s: str, service: Here) -> Response:
    """Show what was changed of a schedule by hand; it may be deleted. Empty if nothing was."""
    with service.store.reading() as reader:
        deployed_app(service, reader, app)
        check_name(s)
        found = reader.records(OVERRIDES, ref=[f"{app}/{s}"])
        state = next(iter(reader.schedules(refs=[f"{app}/{s}"])), None)
        if state is None and not found:
            raise Problem(404, f'app {app} has no schedule "{s}"')
        return json_answer(Overrides(overrides=public_overrides(reader, found)))


@router.post(
    "/schedules/{s}/revert",
    dependencies=[OPERATE],
    **contract(
        Reverted, body=Revert, example={"reason": "the feed is back"}, optional=True, errors=(409, 412)
    ),
)
def revert_overrides(
    app: str,
    s: str,
    request: Request,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_optional)],
) -> Response:
    """Revert what was changed by hand: the status with `operate`, the text of the schedule with `admin`."""
    wanted = as_form(body, Revert)
    with service.store.transaction() as transaction:
        deployed_app(service, transaction, app)
        check_name(s)
        state = next(iter(transaction.schedules(refs=[f"{app}/{s}"])), None)
        check_match(request, state)
        found = [
            each for each in transaction.records(OVERRIDES, ref=[f"{app}/{s}"]) if of_part(each, wanted.only)
        ]
        if not found:
            raise Problem(404, f"nothing of {app}/{s} was changed by hand")
        if any(each.of_text for each in found):
            caller.check(Role.ADMIN, app)
        reverted = public_overrides(transaction, found)
        with refused_to(transaction, caller):
            revert(transaction, f"{app}/{s}", service.clock(), caller.by(wanted.reason), wanted.only)
    return json_answer(Reverted(reverted=reverted))
