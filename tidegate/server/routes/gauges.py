"""Gauges: numbers that schedules wait for with `load: {gauge: …}`, as `tidegate gauge set`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.commands.gauge import gauge_limits, report_gauges
from tidegate.scheduler.model.run import GAUGES, Gauge
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer, listed, page_of
from tidegate.server.page import Page
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


class Shown(Value, kw_only=True):
    """A gauge after its last report.

    Attributes:
        name: under which it is reported.
        value: of the last report.
        reported_at: when that was.
        limits: of the deployed schedules that wait for it, by "app/schedule".
    """

    name: str
    value: float
    reported_at: datetime
    limits: dict[str, float]


@router.get("", dependencies=[READ], **contract(page_of(Gauge)))
def list_gauges(service: Here, caller: Called, page: Annotated[Page, Depends(Page)]) -> Response:
    """List the gauges by name, with the last report of each; a token for an app sees its own."""
    with service.store.reading() as reader:
        own = None if caller.app is None else gauge_limits(reader, caller.app)
        found = [each for each in reader.records(GAUGES) if own is None or each.name in own]
    return listed(*page.of(found, lambda each: (each.name,)))


@router.get("/{name}", dependencies=[READ], **contract(Shown))
def show_gauge(name: str, service: Here, caller: Called) -> Response:
    """Show the last report of a gauge, and the limits of the schedules that wait for it."""
    with service.store.reading() as reader:
        apps, limits = visible_apps(service, reader, caller), gauge_limits(reader, caller.app)
        found = [_shown(gauge, limits, apps) for gauge in reader.records(GAUGES, name=[name])]
    if not found or (caller.app is not None and not found[0].limits):
        raise Problem(404, f"no gauge {name!r:.100} was reported")
    return json_answer(found[0])


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
        limits = gauge_limits(transaction)
    return json_answer(_shown(gauge, limits, apps))


def _shown(gauge: Gauge, limits: Mapping[str, Mapping[str, float]], apps: frozenset[str] | None) -> Shown:
    own = limits.get(gauge.name, {})
    seen = {ref: most for ref, most in own.items() if apps is None or app_of(ref) in apps}
    return Shown(name=gauge.name, value=gauge.value, reported_at=gauge.reported_at, limits=seen)
