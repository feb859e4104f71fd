"""*Job*: one with why it waits, its input, its attempts and its buttons."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from msgspec.structs import replace

from tidegate.domain.value import Value
from tidegate.listings.actions import allowed_actions, find_action
from tidegate.listings.jobs import JOBS
from tidegate.listings.listing import load
from tidegate.listings.shown_job import ShownJob, shown_job
from tidegate.processes.explained import explained
from tidegate.processes.server_address import run_address
from tidegate.project.local_time import common_zone
from tidegate.scheduler.commands.tasks.instances import InstanceName
from tidegate.scheduler.commands.tasks.instances import act as act_on
from tidegate.scheduler.decision.instances.actions import ALLOWED, status_of
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.history import Attempt
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.board.page import PageRoute, back, page
from tidegate.server.body import read_form
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.instances import ACTIONS as OF_INSTANCES
from tidegate.server.service import Here, Service
from tidegate.server.tasks import check_tasks
from tidegate.server.visible import named, visible_job

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
        actions: what can be done to it.
    """

    shown: ShownJob
    events: int
    newest: int
    attempts: tuple[Address, ...]
    explanations: tuple[Explanation, ...]
    actions: tuple[str, ...]


@router.get("/{id}", dependencies=[READ])
def show_page(id: str, request: Request, service: Here, caller: Called) -> Response:
    """Show a job."""
    with service.store.reading() as reader:
        job = visible_job(service, reader, caller, id)
        found, zone = shown_job(reader, job, NEWEST_SHOWN), common_zone(reader, [job.app])
        why = explained(
            service.store, reader, lambda store, now: explain(store, job.id, now), service.clock()
        )
        actions = offered(reader, job, service.clock())
    view = Shown(
        shown=replace(found, history=found.history[::-1]),
        events=found.events,
        newest=NEWEST_SHOWN,
        attempts=tuple(
            Address(attempt=each, address=run_address(service.settings, each.run)) for each in found.attempts
        ),
        explanations=why,
        actions=actions,
    )
    title = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    return page(request, service, "job", title, view, zone)


@router.post("/{id}/{action}", dependencies=[OPERATE])
def act(
    id: str,
    action: str,
    service: Here,
    caller: Called,
    form: Annotated[dict[str, str], Depends(read_form)],
) -> Response:
    """Act on a job as its state allows, or on an instance of a task as its status does."""
    known = (*(each.name for each in JOBS.actions), *OF_INSTANCES)
    if action not in known:
        raise Problem(400, f"there is no action {action!r:.100}", hint=f"one of {', '.join(known)}")
    with service.store.transaction() as transaction:
        job = visible_job(service, transaction, caller, id)
        with refused_as(409), named():
            by = caller.by(form.get("reason", "").strip())
            if action in OF_INSTANCES:
                changed = _act_on_instance(service, transaction, caller, job, action, by)
            else:
                changed = load(find_action(JOBS, action).do)(transaction, job.id, service.clock(), by)
    return back(f"/board/jobs/{job.id}", f"{action.replace('_', ' ')} is done; the job is {changed.state}")


def offered(reader: EngineReader, job: Job, now: datetime) -> tuple[str, ...]:
    """Return the actions that would not be refused, by the rules of the commands themselves."""
    found = allowed_actions(JOBS, reader, job, now)
    if job.instance is None:
        return found
    of_instances = (name for name, (does, _) in OF_INSTANCES.items() if status_of(job) in ALLOWED[does])
    return (*of_instances, *found)


def _act_on_instance(
    service: Service, transaction: EngineTransaction, caller: Caller, job: Job, action: str, by: By
) -> Job:
    """Act on an instance, and return it.

    Raises:
        Problem: 409, the job is of a schedule; 403 or 404, consumers are not the caller's.
    """
    if job.instance is None:
        raise Problem(409, f"job {job.id} is not an instance of a task")
    does, downstream = OF_INSTANCES[action]
    name = InstanceName(scheduled=job.instance.key, number=job.instance.number)
    changed = act_on(transaction, job.schedule, name, does, service.clock(), by, downstream=downstream)
    check_tasks(service, transaction, caller, tuple(each.schedule for each in changed))
    return changed[0]
