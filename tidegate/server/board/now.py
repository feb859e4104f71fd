"""*Now*: what runs, what waits for what, what failed, and what comes in the next 24 hours."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice, takewhile

from fastapi import APIRouter, Request, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.tasks.grid import real_slots_after
from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.listings.jobs import Job
from tidegate.listings.queries.jobs import public_jobs
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.missed import last_tick_line
from tidegate.scheduler.explain.work import LATE_READ, RECENTLY, count_late
from tidegate.scheduler.launch.active_host import active_host
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import AlertState
from tidegate.scheduler.store.answers import AlertCount, JobCount
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.tick.on_time import is_late
from tidegate.scheduler.tick.tick import last_tick
from tidegate.server.access import READ, Called, Caller
from tidegate.server.board.page import PageRoute, page
from tidegate.server.routes.holds import HeldApp, held
from tidegate.server.service import Here, Service
from tidegate.server.visible import visible_apps

router = APIRouter(route_class=PageRoute, include_in_schema=False)

RUNNING_STATES = (JobState.LAUNCHED, JobState.PENDING_LAUNCH)
WAITING_STATES = (JobState.PENDING_CONSTRAINT, JobState.PENDING_TRIGGER, JobState.PAUSED)
EXAMPLES = 5
RUNNING_SHOWN = 20
AHEAD = timedelta(hours=24)
AHEAD_SHOWN = 30
"""Schedules of the time line, those that fire first."""

TASKS_READ = 1000
"""Tasks whose starts are looked for: instances are made long before, so all of them are due each day."""

FIRES_SHOWN = 96
"""Of one schedule: more of them would be one bar."""


class Group(Value, kw_only=True):
    """Jobs of one state and reason.

    Attributes:
        oldest: when the first of them was opened.
        examples: the newest ones.
    """

    state: JobState
    reason: Reason | None
    summary: str
    jobs: int
    oldest: datetime
    examples: tuple[Job, ...]


class Ahead(Value, kw_only=True):
    """The fires of a schedule in the next 24 hours.

    Attributes:
        hours: of each fire, how many hours from now.
    """

    schedule: str
    times: tuple[datetime, ...]
    hours: tuple[float, ...]


class Now(Value, kw_only=True):
    """The page.

    Attributes:
        alive: lines on what drives the engine.
        well: whether it ticks.
        running: jobs by state.
        failed: jobs that ended as failed at `failed_since` or later, whenever they were opened.
        held: apps of which nothing is launched until a person releases them.
        late: jobs and periods of datasets that are past their deadline, up to `LATE_READ`.
        unsent: alerts that are not sent, by state.
    """

    at: datetime
    alive: str
    well: bool
    held: tuple[HeldApp, ...]
    late: int
    late_most: int = LATE_READ
    unsent: dict[AlertState, int]
    running: dict[JobState, int]
    running_jobs: tuple[Job, ...]
    waiting: tuple[Group, ...]
    failed: tuple[Group, ...]
    failed_since: datetime
    ahead: tuple[Ahead, ...]


@router.get("/", dependencies=[READ])
def now_page(request: Request, service: Here, caller: Called) -> Response:
    """Show what runs, what waits, what failed, and what comes."""
    with service.store.reading() as reader:
        view = _view(service, reader, caller)
        shown = {job.app for job in view.running_jobs} | {app_of(each.schedule) for each in view.ahead}
        shown |= {job.app for group in (*view.waiting, *view.failed) for job in group.examples}
        zone = common_zone(reader, shown)
    return page(request, service, "now", "Now", view, zone)


def _view(service: Service, reader: ListingReader, caller: Caller) -> Now:
    now, apps = service.clock(), visible_apps(service, reader, caller)
    counts = _seen(reader.job_counts((*RUNNING_STATES, *WAITING_STATES)), apps)
    failures = _seen(reader.job_counts((JobState.FAILED,), ended_since=now - RECENTLY), apps)
    ticked, host = last_tick(reader), active_host(reader, service.settings.name, now)
    late = host is None and is_late(ticked, now, service.settings.tick_seconds)
    return Now(
        at=now,
        alive=last_tick_line(ticked, now, late),
        well=not late,
        held=held(reader, lambda app: apps is None or app in apps),
        late=count_late(reader, apps, LATE_READ),
        unsent=_unsent(
            count for app in caller.each_app for count in reader.alert_counts(service.settings.name, app)
        ),
        running={state: number for state in RUNNING_STATES if (number := _number(counts, state))},
        running_jobs=tuple(
            job
            for state in RUNNING_STATES
            for job in public_jobs(reader, reader.jobs(apps=apps, states=(state,), limit=RUNNING_SHOWN)[::-1])
        )[:RUNNING_SHOWN],
        waiting=_groups(reader, (each for each in counts if each.state in WAITING_STATES), apps),
        failed=_groups(reader, failures, apps, now - RECENTLY),
        failed_since=now - RECENTLY,
        ahead=tuple(_ahead(reader, now, apps)),
    )


def _unsent(counts: Iterable[AlertCount]) -> dict[AlertState, int]:
    found = Counter[AlertState]()
    for count in counts:
        if count.state is not AlertState.SENT:
            found[count.state] += count.alerts
    return dict(found)


def _seen(counts: Iterable[JobCount], apps: frozenset[str] | None) -> list[JobCount]:
    return [count for count in counts if apps is None or count.app in apps]


def _number(counts: Iterable[JobCount], state: JobState) -> int:
    return sum(count.jobs for count in counts if count.state is state)


def _groups(
    reader: EngineReader,
    counts: Iterable[JobCount],
    apps: frozenset[str] | None,
    ended_since: datetime | None = None,
) -> tuple[Group, ...]:
    """Return the groups of counts, those of operations on tables last, and else the largest first."""
    same: dict[tuple[JobState, Reason | None], list[JobCount]] = {}
    for count in counts:
        same.setdefault((count.state, count.reason), []).append(count)
    found = [
        Group(
            state=state,
            reason=reason,
            summary="" if reason is None else reason.summary,
            jobs=sum(each.jobs for each in several),
            oldest=min(each.oldest for each in several),
            examples=tuple(
                public_jobs(
                    reader,
                    (
                        job
                        for job in reader.jobs(
                            apps=apps, states=(state,), reason=reason, ended_since=ended_since, limit=EXAMPLES
                        )[::-1]
                        if job.reason is reason
                    ),
                )
            ),
        )
        for (state, reason), several in same.items()
    ]
    return tuple(sorted(found, key=_order))


def _order(group: Group) -> tuple[bool, int, JobState, str]:
    reason = group.reason or ""
    return reason.startswith("M-"), -group.jobs, group.state, reason


def _ahead(reader: EngineReader, now: datetime, apps: frozenset[str] | None) -> Iterable[Ahead]:
    """Yield what fires in the next hours, the earliest first."""
    until = now + AHEAD
    due = [*reader.due_schedules(until, AHEAD_SHOWN), *reader.due_schedules(until, TASKS_READ, tasks=True)]
    seen = [state for state in due if apps is None or state.app in apps]
    timed = {state.ref: times for state in seen if (times := tuple(_fires(state, now, until)))}
    for ref, times in sorted(timed.items(), key=lambda each: (each[1][0], each[0]))[:AHEAD_SHOWN]:
        hours = tuple(round((time - now) / timedelta(hours=1), 3) for time in times)
        yield Ahead(schedule=ref, times=times, hours=hours)


def _fires(state: ScheduleState, now: datetime, until: datetime) -> Iterable[datetime]:
    """Return the fires of a schedule, or the starts of the instances of a task that is not suspended."""
    clock, task = state.spec.trigger.wall_clock, state.spec.task
    if task is not None:
        starts = (slot.start for slot in real_slots_after(task, now)) if state.active else ()
        return islice(takewhile(lambda start: start <= until, starts), FIRES_SHOWN)
    if clock is not None:
        return islice(fire_times.fires(clock, now, until), FIRES_SHOWN)
    return () if state.next_fire_at is None else (max(state.next_fire_at, now),)
