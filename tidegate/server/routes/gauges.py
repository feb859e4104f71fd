"""Gauges: numbers that schedules wait for with `load: {gauge: …}`, as `tidegate gauge set`."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.commands.gauge import gauge_limits, report_gauges
from tidegate.server.access import OPERATE, Called
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer
from tidegate.server.problem import refused_as
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/gauges", tags=["events"])


class Measured(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a report.

    Attributes:
        value: a finite number, which counts until the next report.
    """

    value: float
    reason: str = ""


class Shown(Value, kw_only=True):
    """A gauge after a report.

    Attributes:
        limits: of the deployed schedules that wait for it, by "app/schedule".
    """

    name: str
    value: float
    reported_at: datetime
    limits: dict[str, float]


@router.post(
    "/{name}",
    dependencies=[OPERATE],
    **contract(Shown, body=Measured, example={"value": 42.5}),
)
def report_gauge(
    name: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)]
) -> Response:
    """Report the value of a gauge; the next tick decides the jobs that wait for it."""
    caller.check_all_apps()
    wanted = as_form(body, Measured)
    with service.store.transaction() as transaction:
        with refused_as(400):
            (gauge,) = report_gauges(
                transaction, {name: wanted.value}, service.clock(), caller.by(wanted.reason)
            )
        apps = visible_apps(service, transaction, caller)
        limits = gauge_limits(transaction).get(name, {})
    seen = {ref: most for ref, most in limits.items() if apps is None or app_of(ref) in apps}
    return json_answer(Shown(name=gauge.name, value=gauge.value, reported_at=gauge.reported_at, limits=seen))
