"""Schedules of all apps: those that a program triggers, and those to enable again."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from tidegate.domain.time.instant import instant_of
from tidegate.domain.value import Value
from tidegate.listings.schedules import TRIGGERED
from tidegate.scheduler.commands.by_hand.manual import resume
from tidegate.server.access import OPERATE, Called
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import own_apps
from tidegate.server.listing import add_route
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.schedules import Reason
from tidegate.server.service import Here

router = APIRouter(prefix="/schedules", tags=["schedules"])


class Enabled(Value, kw_only=True):
    """The schedules that were enabled again, as "app/schedule".

    Attributes:
        enabled: each as "app/schedule".
    """

    enabled: list[str]


@router.put("/re-enable", dependencies=[OPERATE], **contract(Enabled))
def enable_again(
    service: Here,
    caller: Called,
    start: Annotated[str, Query(alias="start-time", description="ISO 8601 with a zone.")] = "",
    end: Annotated[str, Query(alias="end-time", description="ISO 8601 with a zone; not included.")] = "",
    reason: Reason = "",
) -> Response:
    """Enable the schedules that were suspended from an instant to another one, and still are."""
    with refused_as(400):
        first, last = instant_of(start, "start-time"), instant_of(end, "end-time")
    if last < first:
        raise Problem(400, "end-time is before start-time")
    now, enabled = service.clock(), list[str]()
    with service.store.transaction() as transaction:
        apps = {each for each in own_apps(service, transaction) if caller.sees(each)}
        for state in transaction.schedules():
            at = state.suspended_at
            found = state.app in apps and not state.active and at is not None and first <= at < last
            if found and resume(transaction, state.ref, now, caller.by(reason)):
                enabled.append(state.ref)
    return json_answer(Enabled(enabled=enabled))


add_route(router, TRIGGERED, "/trigger-type/program-status")
