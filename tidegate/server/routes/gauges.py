"""Gauges: numbers that schedules wait for with `load: {gauge: …}`, as `tidegate gauge set`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from tidegate.domain.value import Value
from tidegate.listings.gauges import ReportedGauge
from tidegate.listings.queries.gauges import public_gauge
from tidegate.scheduler.commands.gauge import gauge_limits, report_gauges
from tidegate.scheduler.model.run import GAUGES
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer
from tidegate.server.problem import Problem, refused_as
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


@router.get("/{name}", dependencies=[READ], **contract(ReportedGauge))
def show_gauge(name: str, service: Here, caller: Called) -> Response:
    """Show the last report of a gauge, and the limits of the schedules that wait for it."""
    with service.store.reading() as reader:
        apps, limits = visible_apps(service, reader, caller), gauge_limits(reader)
        found = [public_gauge(name, gauge, limits, apps) for gauge in reader.records(GAUGES, name=[name])]
    if not found or (caller.apps is not None and not found[0].limits):
        raise Problem(404, f"no gauge {name!r:.100} was reported")
    return json_answer(found[0])


@router.post(
    "/{name}",
    dependencies=[OPERATE],
    **contract(ReportedGauge, body=Measured, example={"value": 42.5}),
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
        limits = gauge_limits(transaction)
    return json_answer(public_gauge(name, gauge, limits, apps))
