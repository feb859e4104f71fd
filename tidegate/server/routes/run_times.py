"""Run times of crons: when they fire next, and when they fired last, of one program or of several."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import fire_event_key
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.body import as_form, read_list
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import deployed_app, program_of
from tidegate.server.page import LIMIT_MAX, WholeNumber
from tidegate.server.problem import Problem
from tidegate.server.service import Here, Service

router = APIRouter(tags=["run times"])

OK, NOT_FOUND = 200, 404
MOST = 100_000
"""Schedules of one program that are read."""

FIRES_READ = 100
"""Of the newest fires of a cron, among which the last one that counted is looked for."""

Times = Annotated[int, WholeNumber, Query(ge=1, le=LIMIT_MAX, description="How many of each schedule.")]


class RunTime(Value, kw_only=True):
    """The scheduled time of a fire.

    Attributes:
        schedule: its name in the app.
        time: when.
    """

    schedule: str
    time: datetime


class Batched(Value, kw_only=True, forbid_unknown_fields=True):
    """A program in a batch."""

    app: str
    program: str


class Answered(Value, kw_only=True):
    """The run times of a program in a batch; without any where it is unknown.

    Attributes:
        app, program: as they were asked for.
        status_code: 200, or 404 for an unknown one.
        schedules: its crons with their times.
    """

    app: str
    program: str
    status_code: int
    schedules: list[RunTime]


Look = Callable[[EngineReader, ScheduleState, datetime], list[RunTime]]

EXAMPLE = [{"app": "sales", "program": "report"}]


@router.get("/apps/{app}/programs/{p}/nextruntime", dependencies=[READ], **contract(list[RunTime]))
def next_run_times(app: str, p: str, service: Here, n: Times = 1) -> Response:
    """List the next run times of a program, earliest first: those of its active crons."""
    with service.store.reading() as reader:
        return json_answer(_times(service, reader, app, p, _next(n)))


@router.get("/apps/{app}/programs/{p}/previousruntime", dependencies=[READ], **contract(list[RunTime]))
def previous_run_times(app: str, p: str, service: Here) -> Response:
    """List the last run time of each cron of a program that has fired, suspended ones too."""
    with service.store.reading() as reader:
        return json_answer(_times(service, reader, app, p, _last))


@router.post(
    "/nextruntime", dependencies=[READ], **contract(list[Answered], body=list[Batched], example=EXAMPLE)
)
def next_of_several(
    service: Here, caller: Called, body: Annotated[list[Any], Depends(read_list)]
) -> Response:
    """List the next run times of several programs, in the order asked."""
    return _batch(service, caller, body, _next(1))


@router.post(
    "/previousruntime",
    dependencies=[READ],
    **contract(list[Answered], body=list[Batched], example=EXAMPLE),
)
def previous_of_several(
    service: Here, caller: Called, body: Annotated[list[Any], Depends(read_list)]
) -> Response:
    """List the last run times of several programs, in the order asked."""
    return _batch(service, caller, body, _last)


def _batch(service: Service, caller: Caller, body: list[Any], look: Look) -> Response:
    asked = as_form(body, list[Batched])
    for each in asked:
        caller.check_app(each.app)
    with service.store.reading() as reader:
        return json_answer([_entry(service, reader, each, look) for each in asked])


def _entry(service: Service, reader: ListingReader, asked: Batched, look: Look) -> Answered:
    try:
        found, code = _times(service, reader, asked.app, asked.program, look), OK
    except Problem as problem:
        found, code = [], problem.status
    return Answered(app=asked.app, program=asked.program, status_code=code, schedules=found)


def _times(service: Service, reader: ListingReader, app: str, program: str, look: Look) -> list[RunTime]:
    program_of(deployed_app(service, reader, app), program)
    now = service.clock()
    found = [
        time
        for state in reader.schedules(app=app, program=program, kind="cron", limit=MOST)
        for time in look(reader, state, now)
    ]
    return sorted(found, key=lambda each: (each.time, each.schedule))


def _next(count: int) -> Look:
    def look(_reader: EngineReader, state: ScheduleState, now: datetime) -> list[RunTime]:
        found: list[RunTime] = []
        clock = state.spec.trigger.wall_clock if state.active else None
        after: datetime | None = now
        while clock is not None and after is not None and len(found) < count:
            after = fire_times.next_fire(clock, after)
            if after is not None:
                found.append(RunTime(schedule=state.name, time=after))
        return found

    return look


def _last(reader: EngineReader, state: ScheduleState, _now: datetime) -> list[RunTime]:
    fires = reader.events(key_prefix=fire_event_key(state.ref, ""), limit=FIRES_READ)
    counted = (each for each in fires if each.scheduled_for is not None and not each.expired)
    newest = next(counted, None)
    if newest is None or newest.scheduled_for is None:
        return []
    return [RunTime(schedule=state.name, time=newest.scheduled_for)]
