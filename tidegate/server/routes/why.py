"""Why a schedule or job waits: the tree of conditions, as `tidegate why --format json`."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from msgspec.structs import replace

from tidegate.listings.explained import ShownExplanation, shown_explanation
from tidegate.processes.explained import Explain, address_of, explained, past_instant
from tidegate.scheduler.explain.missed import last_tick_line
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.tick.clock import is_late, last_tick
from tidegate.server.access import READ
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import deployed_app, schedule_of
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service

router = APIRouter(tags=["schedules"])

At = Annotated[str | None, Query(description="A past moment, ISO 8601 with a zone.")]

Every = Annotated[bool, Query(alias="all", description="Explain each waiting job, not only the first ones.")]


@router.get("/apps/{app}/schedules/{s}/why", dependencies=[READ], **contract(list[ShownExplanation]))
def why_schedule(app: str, s: str, service: Here, at: At = None, every: Every = False) -> Response:
    """Explain what a schedule waits for, for the first of its waiting jobs in launch order.

    If it has more, `open_jobs` counts all of them by reason.
    """
    with service.store.reading() as reader:
        deployed_app(service, reader, app)
        if at is None:
            schedule_of(service, reader, app, s)
    return explain_as_json(service, lambda reader, now: explain(reader, f"{app}/{s}", now, every=every), at)


def explain_as_json(service: Service, look: Explain, at: str | None) -> Response:
    """Return explanations of the present, or of a past moment.

    Raises:
        Problem: 400 for a malformed moment, 404 for what did not exist then.
    """
    now, settings = service.clock(), service.settings
    with refused_as(400):
        moment = None if at is None else past_instant(at, now, "at")
    with service.store.reading() as present, refused_as(404):
        found = explained(service.store, present, look, now, moment)
        ticked = last_tick(present)
        shown = [shown_explanation(each, present) for each in found]
    if not found:
        raise Problem(404, "there was nothing to explain at that moment")
    late = is_late(ticked, now, settings.tick_seconds)
    lines = () if at is not None else (last_tick_line(ticked, now, late),)
    addresses = [address_of(settings, each) for each in found]
    pairs = zip(shown, addresses, strict=True)
    return json_answer([replace(each, run_address=address, scheduler=lines) for each, address in pairs])
