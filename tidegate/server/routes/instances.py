"""Instances of cycle tasks: one in full, and what people do to it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec.structs import asdict

from tidegate.listings.actions import find_action
from tidegate.listings.instances import INSTANCES
from tidegate.listings.listing import load
from tidegate.listings.queries.instances import shown_now
from tidegate.listings.shown_instance import ChangedInstance, ShownInstance, shown_instance
from tidegate.scheduler.commands.tasks.instances import InstanceName
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.page import WholeNumber
from tidegate.server.problem import refused_as
from tidegate.server.routes.schedules import Reasoned
from tidegate.server.service import Here
from tidegate.server.tasks import check_tasks, instance_of, task_of

router = APIRouter(tags=["tasks"])

NUMBER_MAX = 2**31 - 1

OfBackfill = Annotated[
    int, WholeNumber, Query(ge=0, le=NUMBER_MAX, description="The number of its backfill; 0 for none.")
]


@router.get("/instances/{task}/{scheduled}", dependencies=[READ], **contract(ShownInstance, errors=(409,)))
def show_instance(
    task: str, scheduled: str, service: Here, caller: Called, backfill: OfBackfill = 0
) -> Response:
    """Show an instance: its times, upstream instances, consumers, partitions, attempts and history."""
    with service.store.reading() as reader:
        state = task_of(service, reader, caller, task, or_schedule=backfill > 0)
        job = instance_of(reader, state, InstanceName(scheduled=scheduled, number=backfill))
        return json_answer(shown_instance(reader, job))


@router.post(
    "/instances/{task}/{scheduled}/{action}",
    dependencies=[OPERATE],
    **contract(
        ChangedInstance,
        body=Reasoned,
        optional=True,
        errors=(409,),
        example={"reason": "the input was wrong"},
    ),
)
def act_on_instance(
    task: str,
    scheduled: str,
    action: str,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_optional)],
    backfill: OfBackfill = 0,
) -> Response:
    """Mark an instance as successful, pause or resume it, or run it again, alone or with its consumers."""
    with refused_as(400):
        found = find_action(INSTANCES.actions, action)
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        state = task_of(service, transaction, caller, task, or_schedule=backfill > 0)
        name = InstanceName(scheduled=scheduled, number=backfill)
        job = instance_of(transaction, state, name)
        with refused_as(409):
            changed = load(found.do)(transaction, job.id, service.clock(), by, **dict(found.given))
        check_tasks(service, transaction, caller, tuple(job.schedule for job in changed))
        shown = tuple(shown_now(transaction, job) for job in changed)
    return json_answer(ChangedInstance(**asdict(shown[0]), changed=shown))
