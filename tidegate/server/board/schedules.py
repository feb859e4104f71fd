"""*Schedule or task*: apps with their schedules, and one with its conditions, history and buttons."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated

import yaml
from fastapi import APIRouter, Depends, Request, Response
from msgspec.structs import replace

from tidegate.compiler.render.written import written_schedule
from tidegate.domain.tasks.grid import real_slots_after
from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.listings.jobs import Job
from tidegate.listings.overrides import Override
from tidegate.listings.queries.jobs import public_jobs
from tidegate.listings.queries.overrides import public_overrides
from tidegate.listings.schedules import SCHEDULES
from tidegate.processes.explained import explained
from tidegate.scheduler.commands.by_hand.manual import resume, suspend, trigger
from tidegate.scheduler.commands.reverts import revert
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.overrides import reverted_to
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.board.listing import add_page
from tidegate.server.board.page import PageRoute, back, page
from tidegate.server.body import read_form
from tidegate.server.deployed import own_apps, schedule_of
from tidegate.server.forms.override import until_of
from tidegate.server.problem import Problem
from tidegate.server.routes.holds import HeldApp, held
from tidegate.server.service import Here, Service
from tidegate.server.visible import refused_to

router = APIRouter(prefix="/board/schedules", route_class=PageRoute, include_in_schema=False)

JOBS_SHOWN, ENTRIES_SHOWN, FIRES_SHOWN = 20, 50, 5

FIRES_WITHIN = timedelta(days=366)
"""How far the next fires of a cron are looked for."""


class Apps(Value, kw_only=True):
    """What the page of the list shows beside it.

    Attributes:
        apps: all that the caller sees.
        holds: who holds the launches of each that is on hold.
    """

    apps: tuple[str, ...]
    holds: dict[str, HeldApp]


class Shown(Value, kw_only=True):
    """One schedule or task.

    Attributes:
        yaml: its specification as it was written.
        place: where it was written, "file:line".
        next_fires: the next one, or of a task the start of an instance; of an active cron or task more.
        jobs: the newest ones.
        history: the newest entries first.
        overrides: what was changed of it by hand.
    """

    state: ScheduleState
    yaml: str
    place: str
    explanations: tuple[Explanation, ...]
    next_fires: tuple[datetime, ...]
    jobs: tuple[Job, ...]
    history: tuple[Entry, ...]
    overrides: list[Override]


def _apps(service: Service, caller: Caller, *_: object) -> Apps:
    with service.store.reading() as reader:
        apps = tuple(sorted(each for each in own_apps(service, reader) if caller.sees(each)))
        return Apps(apps=apps, holds={each.app: each for each in held(reader, lambda app: app in apps)})


add_page(SCHEDULES, template="schedules", more=_apps)


@router.get("/{app}/{s}", dependencies=[READ])
def show_page(app: str, s: str, request: Request, service: Here) -> Response:
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
        )
    return page(request, service, "schedule", state.ref, view, state.spec.timezone)


@router.post("/{app}/{s}/{action}", dependencies=[OPERATE])
def act(
    app: str,
    s: str,
    action: str,
    request: Request,
    service: Here,
    caller: Called,
    form: Annotated[dict[str, str], Depends(read_form)],
) -> Response:
    """Suspend, resume, trigger, force or revert a schedule."""
    now, by = service.clock(), caller.by(form.get("reason", "").strip())
    until = until_of(form.get("expires", "").strip(), now)
    with service.store.transaction() as transaction:
        ref = schedule_of(service, transaction, app, s).ref
        with refused_to(transaction, caller):
            match action:
                case "suspend":
                    changed = suspend(transaction, ref, now, by, until)
                    done = f"{ref} is suspended" if changed else f"{ref} was suspended already"
                case "resume":
                    changed = resume(transaction, ref, now, by, until)
                    done = f"{ref} is active" if changed else f"{ref} was active already"
                case "trigger" | "force":
                    key = form.get("key", "").strip()
                    job = trigger(transaction, ref, now, key, action == "force", by=by)
                    done = f"job {job.id} is due; the next tick decides about it"
                case "revert":
                    if any(each.of_text for each in transaction.records(OVERRIDES, ref=[ref])):
                        caller.check(Role.ADMIN)
                    reverted = revert(transaction, ref, now, by)
                    done = "; ".join(f"{ref} {reverted_to(each)}" for each in reverted)
                    if any(each.kind == "created" for each in reverted):
                        return back("/board/schedules", done, app=app)
                case _:
                    raise Problem(400, f"there is no action {action!r:.100}")
    return back(f"/board/schedules/{ref}", done)


def _next_fires(state: ScheduleState, now: datetime) -> Iterable[datetime]:
    first, clock, task = state.next_start(now), state.spec.trigger.wall_clock, state.spec.task
    following: Iterable[datetime] = ()
    if state.active and task is not None:
        following = (slot.start for slot in real_slots_after(task, now))
    elif state.active and clock is not None:
        following = fire_times.fires(clock, now, now + FIRES_WITHIN)
    return sorted({*islice(following, FIRES_SHOWN), *(() if first is None else (first,))})
