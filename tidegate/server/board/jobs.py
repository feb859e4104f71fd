"""*Job*: one with why it waits or has failed, its attempts, input and log, and what goes on after it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from fastapi import APIRouter, Request, Response
from msgspec.structs import replace

from tidegate.domain.part_name import whole_name
from tidegate.domain.value import Value
from tidegate.listings.shown_job import ShownJob, shown_job
from tidegate.processes.explained import explained
from tidegate.processes.run_log import RunLog, read_log
from tidegate.processes.server_address import run_address
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.answer import Answer, answer
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.history import Attempt
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.tick.load import load_app
from tidegate.server.access import READ, Called, Caller
from tidegate.server.board.actions import Offered, offered
from tidegate.server.board.conditions import Condition, tree_of
from tidegate.server.board.datasets.edges import ends_of, triggers
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.rendering import job_path
from tidegate.server.board.runs import sign_of
from tidegate.server.board.subjects import of_job
from tidegate.server.service import Here, Service
from tidegate.server.visible import visible_job

router = APIRouter(prefix="/board/jobs", route_class=PageRoute, include_in_schema=False)

NEWEST_SHOWN = 100
"""Of a job so many events and entries, the newest."""

SHARES = 12
"""So many parts the time of a job is cut into."""

STOPS_SHOWN = 20
SCHEDULES_READ = 500
"""So many schedules of the app are asked what starts them."""


class Address(Value, kw_only=True):
    """An attempt with the page of its run in Dagster; "" where that is not known."""

    attempt: Attempt
    address: str


class Stretch(Value, kw_only=True):
    """A part of the time of a job: an attempt, or the wait before it.

    Attributes:
        attempt: its number; 0 for a wait.
        share: of the whole, from 1 to `SHARES`.
    """

    attempt: int
    sign: str
    took: timedelta
    share: int


class Stopped(Value, kw_only=True):
    """What goes on only after the job.

    Attributes:
        path: of its page.
        sign: of its state; "" for a schedule.
    """

    name: str
    path: str
    sign: str
    note: str


class Shown(Value, kw_only=True):
    """One job.

    Attributes:
        shown: as `tidegate jobs show`; of its events the newest.
        events: how many it has collected.
        newest: so many events and entries are shown at most.
        sign: of its state.
        answer: what it waits for or came to, in two sentences; of a failed one with its error.
        conditions: of a waiting one, as a tree.
        stretches: its waits and attempts, in order.
        log: the end of what its newest run has printed, for whom may operate; None where it is not known.
        stops: what waits for it.
        main: the action that is most likely wanted; None without one.
        actions: what can be done to it now.
        menu: the same with what is refused, and why.
    """

    shown: ShownJob
    events: int
    newest: int
    sign: str
    answer: Answer
    conditions: tuple[Condition, ...]
    attempts: tuple[Address, ...]
    stretches: tuple[Stretch, ...]
    log: RunLog | None
    stops: tuple[Stopped, ...]
    explanations: tuple[Explanation, ...]
    main: Offered | None
    actions: tuple[str, ...]
    menu: tuple[Offered, ...]


@router.get("/{id}", dependencies=[READ])
def show_page(id: str, request: Request, service: Here, caller: Called) -> Response:
    """Show a job."""
    now = service.clock()
    with service.store.reading() as reader:
        job = visible_job(service, reader, caller, id)
        found, zone = shown_job(reader, job, NEWEST_SHOWN), common_zone(reader, [job.app])
        (why,) = explained(service.store, reader, lambda store, now: explain(store, job.id, now), now)
        menu = offered(of_job(job), reader, now, caller)
        stops = _stops(reader, job, caller)
    found = replace(found, history=found.history[::-1])
    because = next((each.because for each in reversed(found.attempts) if each.because), "")
    view = Shown(
        shown=found,
        events=found.events,
        newest=NEWEST_SHOWN,
        sign=found.job.run_state or sign_of(job),
        answer=answer(_with_error(why, because)),
        conditions=tree_of(why),
        attempts=tuple(
            Address(attempt=each, address=run_address(service.settings, each.run)) for each in found.attempts
        ),
        stretches=stretches(job.opened_at, found.attempts, now if job.ended_at is None else job.ended_at),
        log=_log(service, caller, job.run_id or next((e.run for e in reversed(found.attempts) if e.run), "")),
        stops=stops,
        explanations=(why,),
        main=_main(job, menu),
        actions=tuple(each.name for each in menu if not each.refusal),
        menu=menu,
    )
    title = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    return page(request, service, "job", title, view, zone)


def _with_error(why: Explanation, because: str) -> Explanation:
    """Return an explanation whose failed job has the error of its newest run, if it has none itself."""
    job = why.job
    if job is None or job.state is not JobState.FAILED or job.detail or not because:
        return why
    return replace(why, job=replace(job, detail=because))


def _log(service: Service, caller: Caller, run: str) -> RunLog | None:
    """Return the end of a run's log; what a program prints is for those who may operate it."""
    return read_log(service.settings, run) if run and caller.may(Role.OPERATE) else None


def _main(job: Job, menu: Sequence[Offered]) -> Offered | None:
    """Return the action that a person most likely wants."""
    allowed = {each.name: each for each in menu if not each.refusal}
    wanted = ("retry", "requeue", "rerun", "resume") if not job.waiting else ()
    if job.state in (JobState.FAILED, JobState.PAUSED):
        return next((allowed[name] for name in wanted if name in allowed), None)
    return allowed.get("force") if job.waiting and job.late_at is not None else None


def stretches(opened: datetime, attempts: Sequence[Attempt], until: datetime) -> tuple[Stretch, ...]:
    """Return the waits and the attempts of a job in order, to scale.

    Args:
        until: the end of the job, or now.
    """
    found: list[tuple[int, str, timedelta]] = []
    at = opened
    for each in attempts:
        if each.started is None or not each.run:
            continue
        if each.started > at:
            found.append((0, "waiting", each.started - at))
        at = max(each.ended or until, each.started)
        found.append((each.attempt or len(found) + 1, each.status, at - each.started))
    if until > at:
        found.append((0, "waiting", until - at))
    whole = sum((took for _, _, took in found), timedelta()) or timedelta(seconds=1)
    return tuple(
        Stretch(attempt=attempt, sign=sign, took=took, share=max(1, round(took / whole * SHARES)))
        for attempt, sign, took in found
    )


def _stops(reader: ListingReader, job: Job, caller: Caller) -> tuple[Stopped, ...]:
    """Return what goes on after a job: consumers of an instance, and schedules that its data starts."""
    if job.instance is not None:
        ids = reader.consumers([job.id])[:STOPS_SHOWN]
        return tuple(
            Stopped(
                name=f"{each.schedule}[{each.key}]",
                path=job_path(each.id),
                sign=sign_of(each),
                note="",
            )
            for each in (reader.jobs(ids=ids) if ids else ())
            if caller.sees(each.app)
        )
    app = load_app(reader, job.app)
    (state,) = reader.schedules(refs=[job.schedule]) or (None,)
    program = None if app is None or state is None else app.programs.get(state.spec.program)
    if program is None:
        return ()
    edges = ends_of(triggers(reader.schedules(app=job.app, limit=SCHEDULES_READ)))
    refs = dict.fromkeys(
        ref for name in program.writes for ref in edges.starts.get(whole_name(job.app, name), ())
    )
    return tuple(
        Stopped(name=ref, path=f"/board/schedules/{ref}", sign="", note="is started by what it publishes")
        for ref in [*refs][:STOPS_SHOWN]
    )
