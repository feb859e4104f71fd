"""Jobs: one in full, why it waits, and the actions of people; the list is `listings.jobs`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.value import Value
from tidegate.listings.actions import find_action
from tidegate.listings.explained import ShownExplanation
from tidegate.listings.jobs import JOBS, Job
from tidegate.listings.listing import load
from tidegate.listings.queries.jobs import public_job
from tidegate.listings.shown_job import ShownJob, shown_job
from tidegate.scheduler.explain.history import NEWEST_MAX
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.page import WholeNumber
from tidegate.server.problem import refused_as
from tidegate.server.routes.schedules import REASON, Reasoned
from tidegate.server.routes.why import explain_as_json
from tidegate.server.service import Here
from tidegate.server.visible import named, visible_job

router = APIRouter(prefix="/jobs", tags=["jobs"])

Newest = Annotated[
    int,
    WholeNumber,
    Query(ge=1, le=NEWEST_MAX, description="How many events and entries of its history, the newest of each."),
]


class ChangedJob(Value, kw_only=True):
    """What an action has changed.

    Attributes:
        job: as it is now.
    """

    job: Job


@router.get("/{id}", dependencies=[READ], **contract(ShownJob))
def show_job(id: str, service: Here, caller: Called, newest: Newest = NEWEST_MAX) -> Response:
    """Show a job, its attempts, and the newest of its collected events and of its history."""
    with service.store.reading() as reader:
        return json_answer(shown_job(reader, visible_job(service, reader, caller, id), newest))


@router.get("/{id}/why", dependencies=[READ], **contract(list[ShownExplanation]))
def why_job(id: str, service: Here, caller: Called) -> Response:
    """Explain what a job waits for."""
    with service.store.reading() as reader:
        job = visible_job(service, reader, caller, id).id
    return explain_as_json(service, lambda reader, now: explain(reader, job, now), None)


@router.post(
    "/{id}/{action}",
    dependencies=[OPERATE],
    **contract(ChangedJob, body=REASON, optional=True, errors=(409,), example={"reason": "wrong input"}),
)
def act_on_job(
    id: str,
    action: str,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_optional)],
) -> Response:
    """Cancel a job, queue a dead letter again, retry a failed job, or force a waiting one."""
    with refused_as(400):
        found = find_action(JOBS.actions, action)
    caller.need(Role(found.role))
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        job = visible_job(service, transaction, caller, id).id
        with refused_as(409), named():
            changed = load(found.do)(transaction, job, service.clock(), by)
        return json_answer(ChangedJob(job=public_job(changed, transaction)))
