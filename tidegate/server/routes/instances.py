"""Cycle tasks and their instances: lists in pages, one in full, and what people do to it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec.structs import asdict

from tidegate.listings.queries.instances import shown_now
from tidegate.listings.shown_instance import ChangedInstance, ShownInstance, shown_instance
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.instances.task_facts import task_facts
from tidegate.scheduler.model.deployed import TASK_KIND, ScheduleState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import ANY_OBJECT, contract, json_answer, listed, page_of
from tidegate.server.page import Page, WholeNumber
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.schedules import Reasoned
from tidegate.server.service import Here, Service
from tidegate.server.tasks import check_tasks, instance_of, task_of
from tidegate.server.visible import visible_apps

router = APIRouter(tags=["tasks"])

NUMBER_MAX = 2**31 - 1

OfBackfill = Annotated[
    int, WholeNumber, Query(ge=0, le=NUMBER_MAX, description="The number of its backfill; 0 for none.")
]

ACTIONS: dict[str, tuple[Action, bool]] = {
    "mark_successful": (Action.MARK_SUCCESSFUL, False),
    "pause": (Action.PAUSE, False),
    "resume": (Action.RESUME, False),
    "rerun": (Action.RERUN, False),
    "rerun_downstream": (Action.RERUN, True),
}
"""The actions of paths, and whether the consumers run again too."""


@router.get("/tasks", dependencies=[READ], **contract(page_of(ANY_OBJECT)))
def list_tasks(service: Here, caller: Called, page: Annotated[Page, Depends(Page)]) -> Response:
    """List the deployed tasks, each with its next instance, by app and name."""
    with service.store.reading() as reader:
        states = _tasks(service, reader, caller)
    found, cursor = page.of(states, lambda state: (state.ref,))
    now = service.clock()
    return listed([task_facts(state, state.spec.as_task, now) for state in found], cursor)


@router.get("/instances/{task}/{scheduled}", dependencies=[READ], **contract(ShownInstance, errors=(409,)))
def show_instance(
    task: str, scheduled: str, service: Here, caller: Called, backfill: OfBackfill = 0
) -> Response:
    """Show an instance: its times, upstream instances, consumers, partitions, attempts and history."""
    with service.store.reading() as reader:
        state = task_of(service, reader, caller, task)
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
    if action not in ACTIONS:
        raise Problem(400, f"there is no action {action!r:.100}", hint=f"one of {', '.join(ACTIONS)}")
    does, downstream = ACTIONS[action]
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        state = task_of(service, transaction, caller, task)
        name = InstanceName(scheduled=scheduled, number=backfill)
        instance_of(transaction, state, name)
        with refused_as(409):
            changed = act(transaction, state.ref, name, does, service.clock(), by, downstream=downstream)
        check_tasks(service, transaction, caller, tuple(job.schedule for job in changed))
        shown = tuple(shown_now(transaction, job) for job in changed)
    return json_answer(ChangedInstance(**asdict(shown[0]), changed=shown))


def _tasks(service: Service, reader: EngineReader, caller: Caller) -> list[ScheduleState]:
    apps = visible_apps(service, reader, caller)
    return [state for state in reader.schedules(kind=TASK_KIND) if apps is None or state.app in apps]
