"""*Schedule or task*: apps with their schedules, and one with its conditions, history and buttons."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

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
from tidegate.listings.queries.time_line import lane_of
from tidegate.listings.read import Rows
from tidegate.listings.schedules import SCHEDULES
from tidegate.processes.explained import explained
from tidegate.scheduler.decision.marks import Span
from tidegate.scheduler.explain.answer import LOOKED_AT, Answer, Sentence, answer
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.missed import missed_text
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.tick.load import load_app
from tidegate.server.access import READ, Called, Caller
from tidegate.server.board.actions import Offered, offered
from tidegate.server.board.conditions import TITLES, Condition, Line, tree_of, yaml_lines
from tidegate.server.board.listing import add_page
from tidegate.server.board.now.coming import forecast
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.runs import Runs, last_runs, newest_jobs, sign_of
from tidegate.server.board.subjects import of_app, of_schedule
from tidegate.server.deployed import own_apps, schedule_of
from tidegate.server.routes.holds import HeldApp, held
from tidegate.server.service import Here, Service

router = APIRouter(prefix="/board/schedules", route_class=PageRoute, include_in_schema=False)

JOBS_SHOWN, ENTRIES_SHOWN, FIRES_SHOWN, TABS_SHOWN, COMING_SHOWN = 12, 50, 5, 12, 8

OPEN = (*WAITING, JobState.PENDING_LAUNCH, JobState.LAUNCHED)
"""The states of jobs that have not ended; one of them is explained."""

FIRES_WITHIN = timedelta(days=366)
"""How far the next fires of a cron are looked for."""


LANE_AHEAD = timedelta(days=2)
"""How far usual arrivals are looked for: each of a day comes on one of the next two."""


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


class Tab(Value, kw_only=True):
    """An open job of the schedule.

    Attributes:
        sign: of its state.
        chosen: whether it is the one that is explained.
    """

    job: str
    key: str
    sign: str
    chosen: bool


class Coming(Value, kw_only=True):
    """What comes, by time alone.

    Attributes:
        sign: of the state that it leads to.
    """

    at: datetime
    what: str
    note: str
    sign: str = "waiting"


class Shown(Value, kw_only=True):
    """One schedule or task.

    Attributes:
        place: where it was written, "file:line".
        existing: the job, or the assets, of others that its program launches; "" for a program of ours.
        tabs: its open jobs, the newest first; one of them is explained.
        explanations: of that job; or, without an open job, of what it needs to open one.
        answer: the same in two sentences.
        forecast: what is known of what comes to that job, or next: exactly, or as it usually is.
        conditions: the same as a tree.
        met: how many of these are met.
        yaml: its specification as it was written, with the states of that job beside the lines.
        missed: which fires it has missed; "" for none.
        runs: the last ones.
        coming: what comes next, the earliest first.
        next_fires: the next one, or of a task the start of an instance; of an active cron or task more.
        jobs: the newest ones.
        history: the newest entries first.
        overrides: what was changed of it by hand.
        menu: what can be done to it, and what is refused.
    """

    state: ScheduleState
    place: str
    existing: str
    tabs: tuple[Tab, ...]
    explanations: tuple[Explanation, ...]
    answer: Answer
    forecast: tuple[Sentence, ...]
    conditions: tuple[Condition, ...]
    met: int
    yaml: tuple[Line, ...]
    missed: str
    runs: Runs
    coming: tuple[Coming, ...]
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
def show_page(app: str, s: str, request: Request, service: Here, caller: Called, job: str = "") -> Response:
    """Show a schedule or task, with what one of its open jobs waits for."""
    now = service.clock()
    with service.store.reading() as reader:
        state = schedule_of(service, reader, app, s)
        tabs, found = _explained(service, reader, state, job, now)
        conditions, fires = tree_of(found), tuple(_next_fires(state, now))
        lane = lane_of(reader, state.ref, Span(start=now, end=now + LANE_AHEAD), now)
        ahead = forecast(lane, found, fires, now)
        said = _unless_said(answer(found), ahead)
        section = "schedules" if state.spec.task is None else "tasks"
        view = Shown(
            state=replace(state, next_fire_at=state.next_start(now)),
            place="" if state.spec.at is None else f"{state.spec.at.file}:{state.spec.at.line}",
            existing=_existing(reader, state),
            tabs=tabs,
            explanations=(found,),
            answer=said,
            forecast=ahead,
            conditions=conditions,
            met=sum(each.state == "succeeded" for each in conditions),
            yaml=yaml_lines(state.app, section, state.name, written_schedule(state.spec), found),
            missed=missed_text(reader, state),
            runs=last_runs(reader, state.ref, now),
            coming=_coming(found, fires, "fires" if state.spec.task is None else "starts its next instance"),
            next_fires=fires,
            jobs=tuple(public_jobs(reader, reader.jobs(schedules=(state.ref,), limit=JOBS_SHOWN)[::-1])),
            history=reader.journal(schedule=state.ref, limit=ENTRIES_SHOWN)[::-1],
            overrides=public_overrides(reader, reader.records(OVERRIDES, ref=[state.ref])),
            menu=offered(of_schedule(reader, state), reader, now, caller),
        )
    return page(request, service, "schedule", state.ref, view, state.spec.timezone)


def _existing(reader: ListingReader, state: ScheduleState) -> str:
    app = load_app(reader, state.app)
    program = None if app is None else app.programs.get(state.spec.program)
    return "" if program is None or program.existing is None else program.existing.place


def _unless_said(found: Answer, ahead: Sequence[Sentence]) -> Answer:
    """Return an answer whose second sentence does not only say that a fire is looked at."""
    is_said = found.then in [replace(each, text=LOOKED_AT) for each in ahead]
    return replace(found, then=None) if is_said else found


def _explained(
    service: Service, reader: ListingReader, state: ScheduleState, wanted: str, now: datetime
) -> tuple[tuple[Tab, ...], Explanation]:
    """Return the open jobs of a schedule, and why one of them has not run: the wanted one, or the newest.

    Of a task they are the instances that are due. Only one is explained: a schedule may have many.
    """
    if state.spec.task is None:
        jobs = newest_jobs(reader, state.ref, OPEN, TABS_SHOWN)
        target = next((each.id for each in jobs if each.id == wanted), jobs[0].id if jobs else state.ref)
        (found,) = explained(service.store, reader, lambda store, at: explain(store, target, at), now)
    else:
        every = explained(service.store, reader, lambda store, at: explain(store, state.ref, at), now)
        found = next((each for each in every if each.job is not None and each.job.id == wanted), every[0])
        jobs = [each.job for each in every if each.job is not None]
    chosen = None if found.job is None else found.job.id
    return tuple(
        Tab(job=each.id, key=each.key, sign=sign_of(each), chosen=each.id == chosen) for each in jobs
    ), found


def _coming(found: Explanation, fires: Sequence[datetime], fire: str) -> tuple[Coming, ...]:
    """Return what time alone brings: to a job, and by the schedule's own time."""
    trigger, key = found.trigger, "" if found.job is None else found.job.key
    coming = [Coming(at=at, what=f"It {fire}", note="", sign="active") for at in fires]
    if trigger is not None and trigger.holds_at is not None and found.job is not None:
        coming.append(
            Coming(at=trigger.holds_at, what="Its trigger is met", note=f"{key} without further events")
        )
    coming += [
        Coming(
            at=each.next_check, what=f"{TITLES.get(each.kind, each.kind)} allows it".capitalize(), note=key
        )
        for each in found.constraints
        if not each.met and each.next_check is not None
    ]
    if found.discarded_at is not None:
        coming.append(Coming(at=found.discarded_at, what="Its timeout ends", note=key, sign="discarded"))
    return tuple(sorted(coming, key=lambda each: each.at)[:COMING_SHOWN])


def _next_fires(state: ScheduleState, now: datetime) -> Iterable[datetime]:
    first, clock, task = state.next_start(now), state.spec.trigger.wall_clock, state.spec.task
    following: Iterable[datetime] = ()
    if state.active and task is not None:
        following = (slot.start for slot in real_slots_after(task, now))
    elif state.active and clock is not None:
        following = fire_times.fires(clock, now, now + FIRES_WITHIN)
    return sorted({*islice(following, FIRES_SHOWN), *(() if first is None else (first,))})
