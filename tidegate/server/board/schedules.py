"""*Schedule or task*: apps with their schedules, and one with its conditions, history and buttons."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import yaml
from fastapi import APIRouter, Request, Response
from msgspec.structs import replace

from tidegate.compiler.render.written import written_schedule
from tidegate.domain.tasks.grid import real_slots_after
from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.listings.jobs import Job
from tidegate.listings.overrides import Override
from tidegate.listings.queries.jobs import public_jobs
from tidegate.listings.queries.overrides import public_overrides
from tidegate.listings.read import Rows
from tidegate.listings.schedules import SCHEDULES
from tidegate.processes.explained import explained
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.server.access import READ, Called, Caller
from tidegate.server.board.actions import Offered, offered
from tidegate.server.board.listing import add_page
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.subjects import of_app, of_schedule
from tidegate.server.deployed import own_apps, schedule_of
from tidegate.server.routes.holds import HeldApp, held
from tidegate.server.service import Here, Service

router = APIRouter(prefix="/board/schedules", route_class=PageRoute, include_in_schema=False)

JOBS_SHOWN, ENTRIES_SHOWN, FIRES_SHOWN = 20, 50, 5

FIRES_WITHIN = timedelta(days=366)
"""How far the next fires of a cron are looked for."""


class Apps(Value, kw_only=True):
    """What the page of the list shows beside it.

    Attributes:
        apps: all that the caller sees.
        holds: who holds the launches of each that is on hold.
        app: the only one that is listed; "" for several.
        menu: what can be done to it.
    """

    apps: tuple[str, ...]
    holds: dict[str, HeldApp]
    app: str
    menu: tuple[Offered, ...]


class Shown(Value, kw_only=True):
    """One schedule or task.

    Attributes:
        yaml: its specification as it was written.
        place: where it was written, "file:line".
        next_fires: the next one, or of a task the start of an instance; of an active cron or task more.
        jobs: the newest ones.
        history: the newest entries first.
        overrides: what was changed of it by hand.
        menu: what can be done to it, and what is refused.
    """

    state: ScheduleState
    yaml: str
    place: str
    explanations: tuple[Explanation, ...]
    next_fires: tuple[datetime, ...]
    jobs: tuple[Job, ...]
    history: tuple[Entry, ...]
    overrides: list[Override]
    menu: tuple[Offered, ...]


def _apps(service: Service, caller: Caller, _rows: Rows, given: dict[str, Any]) -> Apps:
    with service.store.reading() as reader:
        apps = tuple(sorted(each for each in own_apps(service, reader) if caller.sees(each)))
        asked = (given["app"] or "").rpartition("/")[2]
        app = asked or (apps[0] if len(apps) == 1 else "")
        return Apps(
            apps=apps,
            holds={each.app: each for each in held(reader, lambda app: app in apps)},
            app=app,
            menu=offered(of_app(app), reader, service.clock(), caller) if app else (),
        )


add_page(SCHEDULES, template="schedules", more=_apps)


@router.get("/{app}/{s}", dependencies=[READ])
def show_page(app: str, s: str, request: Request, service: Here, caller: Called) -> Response:
    """Show a schedule or task."""
    now = service.clock()
    with service.store.reading() as reader:
        state = schedule_of(service, reader, app, s)
        found = explained(service.store, reader, lambda store, at: explain(store, state.ref, at), now)
        view = Shown(
            state=replace(state, next_fire_at=state.next_start(now)),
            yaml=yaml.safe_dump({state.name: written_schedule(state.spec)}, sort_keys=False),
            place="" if state.spec.at is None else f"{state.spec.at.file}:{state.spec.at.line}",
            explanations=found,
            next_fires=tuple(_next_fires(state, now)),
            jobs=tuple(public_jobs(reader, reader.jobs(schedules=(state.ref,), limit=JOBS_SHOWN)[::-1])),
            history=reader.journal(schedule=state.ref, limit=ENTRIES_SHOWN)[::-1],
            overrides=public_overrides(reader, reader.records(OVERRIDES, ref=[state.ref])),
            menu=offered(of_schedule(reader, state), reader, now, caller),
        )
    return page(request, service, "schedule", state.ref, view, state.spec.timezone)


def _next_fires(state: ScheduleState, now: datetime) -> Iterable[datetime]:
    first, clock, task = state.next_start(now), state.spec.trigger.wall_clock, state.spec.task
    following: Iterable[datetime] = ()
    if state.active and task is not None:
        following = (slot.start for slot in real_slots_after(task, now))
    elif state.active and clock is not None:
        following = fire_times.fires(clock, now, now + FIRES_WITHIN)
    return sorted({*islice(following, FIRES_SHOWN), *(() if first is None else (first,))})
