"""*Job*: one with why it waits, its input, its attempts and its buttons."""

from fastapi import APIRouter, Request, Response
from msgspec.structs import replace

from tidegate.domain.value import Value
from tidegate.listings.shown_job import ShownJob, shown_job
from tidegate.processes.explained import explained
from tidegate.processes.server_address import run_address
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.history import Attempt
from tidegate.scheduler.explain.why import explain
from tidegate.server.access import READ, Called
from tidegate.server.board.actions import Offered, offered
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.subjects import of_job
from tidegate.server.service import Here
from tidegate.server.visible import visible_job

router = APIRouter(prefix="/board/jobs", route_class=PageRoute, include_in_schema=False)

NEWEST_SHOWN = 100
"""Of a job so many events and entries, the newest."""


class Address(Value, kw_only=True):
    """An attempt with the page of its run in Dagster; "" where that is not known."""

    attempt: Attempt
    address: str


class Shown(Value, kw_only=True):
    """One job.

    Attributes:
        shown: as `tidegate jobs show`; of its events the newest.
        events: how many it has collected.
        newest: so many events and entries are shown at most.
        actions: what can be done to it now.
        menu: the same with what is refused, and why.
    """

    shown: ShownJob
    events: int
    newest: int
    attempts: tuple[Address, ...]
    explanations: tuple[Explanation, ...]
    actions: tuple[str, ...]
    menu: tuple[Offered, ...]


@router.get("/{id}", dependencies=[READ])
def show_page(id: str, request: Request, service: Here, caller: Called) -> Response:
    """Show a job."""
    with service.store.reading() as reader:
        job = visible_job(service, reader, caller, id)
        found, zone = shown_job(reader, job, NEWEST_SHOWN), common_zone(reader, [job.app])
        why = explained(
            service.store, reader, lambda store, now: explain(store, job.id, now), service.clock()
        )
        menu = offered(of_job(job), reader, service.clock(), caller)
    view = Shown(
        shown=replace(found, history=found.history[::-1]),
        events=found.events,
        newest=NEWEST_SHOWN,
        attempts=tuple(
            Address(attempt=each, address=run_address(service.settings, each.run)) for each in found.attempts
        ),
        explanations=why,
        actions=tuple(each.name for each in menu if not each.refusal),
        menu=menu,
    )
    title = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    return page(request, service, "job", title, view, zone)
