"""*Now*: the page, and its value; each of its parts is read in a module of its own.

The order is that of a person who opens it: does the engine run, one sentence, seven numbers, what needs a
person, the time line, then what waits for what, and what comes next.
"""

from datetime import datetime
from pathlib import Path

from fastapi import APIRouter, Request, Response

from tidegate.domain.value import Value
from tidegate.domain.wording import capitalized
from tidegate.listings.queries.late import lateness
from tidegate.listings.queries.time_line import time_line
from tidegate.listings.time_line import TimeLine
from tidegate.processes.alive import DagsterState, dagster_state
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.explain.missed import last_tick_line
from tidegate.scheduler.explain.work import LATE_READ
from tidegate.scheduler.launch.active_host import active_host
from tidegate.scheduler.model.records.alert import AlertState
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.tick.clock import is_late, last_tick
from tidegate.server.access import READ, Called, Caller
from tidegate.server.board.now import tiles
from tidegate.server.board.now.coming import Coming, coming
from tidegate.server.board.now.needs import Need, needs
from tidegate.server.board.now.waits import Waits, waits
from tidegate.server.board.page import Around, PageRoute, page
from tidegate.server.routes.health import Location, locations_seen
from tidegate.server.routes.holds import HeldApp, held
from tidegate.server.routes.time_line import Asked, Asking, PageNumber, wanted_of, zone_of
from tidegate.server.service import Here, Service

router = APIRouter(route_class=PageRoute, include_in_schema=False)

UNSENT_READ = 200

UNSENT = (AlertState.PENDING, AlertState.DEAD)


class Engine(Value, kw_only=True):
    """What drives the engine.

    Attributes:
        dead: whether its next tick should have come long ago.
        line: when it ticked last, in words.
        ticked: when that was; None if it never did.
        daemon: of a dead one, when Dagster's daemon was heard of last, in words.
        locations: the code locations of the host's workspace, as it has seen them last.
    """

    dead: bool
    line: str
    ticked: datetime | None
    daemon: str = ""
    locations: tuple[Location, ...] = ()


class Now(Value, kw_only=True):
    """The page.

    Attributes:
        sentence: the state of the project, in two clauses at most.
        tiles: seven numbers.
        held: apps of which nothing is launched until a person releases them.
        needs: what has failed in the last 24 hours and what is late, the newest first.
        waits: what waits, by what it waits for.
        coming: what comes next.
    """

    at: datetime
    engine: Engine
    sentence: str
    tiles: tuple[tiles.Tile, ...]
    held: tuple[HeldApp, ...]
    needs: tuple[Need, ...]
    asked: Asked
    time_line: TimeLine
    waits: Waits
    coming: tuple[Coming, ...]


@router.get("/", dependencies=[READ])
def now_page(
    request: Request, service: Here, caller: Called, asking: Asking, number: PageNumber = 1
) -> Response:
    """Show what needs a person, what runs, what waits for what, and what comes."""
    with service.store.reading() as reader:
        wanted = wanted_of(service, reader, caller, asking, number)
        line = time_line(reader, wanted, zone_of(service))
        view = _view(service, reader, caller, line, asking, wanted.apps)
    numbers = {each.state: each.number for each in view.tiles}
    around = Around(failed=numbers["failed"], late=numbers["late"], silent=view.engine.dead)
    return page(request, service, "now", "Now", view, line.zone, around=around)


def _view(
    service: Service,
    reader: ListingReader,
    caller: Caller,
    line: TimeLine,
    asked: Asked,
    apps: frozenset[str] | None,
) -> Now:
    now = service.clock()
    work = _work(service, reader, caller, now, apps)
    waiting = work.number(tiles.waits) + work.number(tiles.is_held)
    engine = _engine(service, reader, now)
    since = f"As of {instant_text(engine.ticked)}: " if engine.dead and engine.ticked is not None else ""
    return Now(
        at=now,
        engine=engine,
        sentence=since + tiles.sentence(work),
        tiles=tiles.tiles(work),
        held=work.holds,
        needs=needs(reader, now, line.zone, apps, work.late, caller),
        asked=asked,
        time_line=line,
        waits=waits(reader, now, line.zone, apps, waiting),
        coming=coming(reader, line, apps),
    )


def _work(
    service: Service, reader: ListingReader, caller: Caller, now: datetime, apps: frozenset[str] | None
) -> tiles.Work:
    project = service.settings.name
    counts = [count for app in caller.each_app for count in reader.alert_counts(project, app)]
    unsent = sum(count.alerts for count in counts if count.state in UNSENT)
    alerts = [
        alert
        for app in (caller.each_app if unsent else ())
        for alert in reader.alerts(project, states=UNSENT, app=app, limit=UNSENT_READ)
    ]
    return tiles.Work(
        now=now,
        open=reader.open_work(now, apps),
        ended=reader.ended_work(now, apps),
        late=lateness(reader, LATE_READ, apps=apps),
        unsent=unsent,
        alerts=tuple(sorted(alerts, key=lambda alert: alert.made_at, reverse=True)),
        holds=held(reader, lambda app: apps is None or app in apps),
    )


def _engine(service: Service, reader: ListingReader, now: datetime) -> Engine:
    settings = service.settings
    ticked, host = last_tick(reader), active_host(reader, settings.name, now)
    dead = host is None and is_late(ticked, now, settings.tick_seconds)
    line = last_tick_line(ticked, now, dead)
    daemon = _daemon(settings, now.replace(second=0, microsecond=0)) if dead else ""
    seen = locations_seen(reader, settings.name)
    return Engine(dead=dead, line=capitalized(line), ticked=ticked, daemon=daemon, locations=seen)


def _daemon(settings: Settings, minute: datetime) -> str:
    """Return when Dagster's daemon was heard of last; it is asked once in a minute."""
    known = _HEARD.get(settings.project)
    if known is None or known[0] != minute:
        known = _HEARD[settings.project] = minute, _heartbeat(settings)
    return known[1]


def _heartbeat(settings: Settings) -> str:
    found = dagster_state(settings)
    if not isinstance(found, DagsterState):
        # It names folders of this machine.
        return "Dagster cannot be asked from here."
    if found.heartbeat is None:
        return "Dagster's daemon has never run."
    return f"Last heartbeat of Dagster's daemon: {instant_text(found.heartbeat)}."


_HEARD: dict[Path, tuple[datetime, str]] = {}
"""By project: the minute in which its Dagster was asked, and what it said."""
