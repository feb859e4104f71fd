"""Schedules of all apps: those that a program triggers, and those to enable again."""

from collections.abc import Collection, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.model import leaves
from tidegate.domain.part_name import whole_name
from tidegate.domain.time.instant import instant_of
from tidegate.domain.value import Value
from tidegate.scheduler.commands.by_hand.manual import resume
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import run_event_key
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.contract import contract, json_answer, listed, page_of
from tidegate.server.deployed import own_apps
from tidegate.server.forms.schedule import SCHEMA, schedule_json
from tidegate.server.page import Page
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.schedules import Reason
from tidegate.server.service import Here, Service

router = APIRouter(prefix="/schedules", tags=["schedules"])

STATUSES = ("started", "succeeded", "failed", "cancelled", "completed")


class Enabled(Value, kw_only=True):
    """The schedules that were enabled again, as "app/schedule"."""

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
        for state in _visible(service, caller, transaction):
            at = state.suspended_at
            found = not state.active and at is not None and first <= at < last
            if found and resume(transaction, state.ref, now, caller.by(reason)):
                enabled.append(state.ref)
    return json_answer(Enabled(enabled=enabled))


@router.get("/trigger-type/program-status", dependencies=[READ], **contract(page_of(SCHEMA)))
def triggered_by(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    app: Annotated[str, Query(alias="trigger-app-name")] = "",
    program: Annotated[str, Query(alias="trigger-program-name")] = "",
    statuses: Annotated[
        str, Query(alias="trigger-program-statuses", description=f"Of {', '.join(STATUSES)}; empty: all.")
    ] = "",
) -> Response:
    """List the schedules whose trigger, or a member of it, waits for runs of a program."""
    if not app or not program:
        raise Problem(400, "trigger-app-name and trigger-program-name are needed")
    wanted = [each.strip().lower() for each in statuses.split(",")] if statuses else list(STATUSES)
    unknown = next((each for each in wanted if each not in STATUSES), None)
    if unknown is not None:
        raise Problem(
            400, f"unknown status {unknown!r:.100} in trigger-program-statuses", hint=", ".join(STATUSES)
        )
    keys = [run_event_key(app, program, status) for status in wanted]
    with service.store.reading() as reader:
        subscribed = {each.schedule for each in reader.subscriptions(keys)}
        states = [
            state
            for state in _visible(service, caller, reader, subscribed)
            if _waits_for(state, f"{app}/{program}", wanted)
        ]
    items, cursor = page.of(states, lambda state: (state.ref,))
    return listed([schedule_json(service.namespace, each) for each in items], cursor)


def _waits_for(state: ScheduleState, program: str, statuses: Sequence[str]) -> bool:
    collected = (leaf.trigger for leaf in leaves(state.spec.trigger) if leaf.trigger.program_collected)
    heard = (trigger.runs_heard(state.spec.program) for trigger in collected)
    return any(
        whole_name(state.app, runs[0]) == program and runs[1] in statuses
        for runs in heard
        if runs is not None
    )


def _visible(
    service: Service, caller: Caller, reader: EngineReader, refs: Collection[str] | None = None
) -> list[ScheduleState]:
    apps = {each for each in own_apps(service, reader) if caller.sees(each)}
    return [state for state in reader.schedules(refs=refs) if state.app in apps]
