"""Five questions of a person, answered by what a screen reader hears of *Now* and of pages one link away.

    what needs me?   what runs?   why does it wait?   what happens in the next two hours?
    what will this button do?

Each expected answer is derived here from the store alone, as words that one sentence of the page has to have.
The worlds are a project in the middle of its work, one in the evening, and one at rest; and the first with an
engine that does not tick.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page

from tests.effort import only
from tests.server.board import board, night
from tests.server.board.visit import answered
from tests.server.sales import deployed
from tests.server.serving import NOON, NS, Served, served
from tidegate.domain.model import WindowConstraint
from tidegate.domain.part_name import name_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus

pytestmark = [pytest.mark.slow, pytest.mark.store]

SOON = timedelta(hours=2)
RECENT = timedelta(hours=24)
SENTENCES = {"heading", "paragraph", "listitem", "row", "alert", "definition", "group", "Legend", "term"}
"""The roles whose text is one sentence."""

TOLD = {"StaticText", "link", "button", "image"}
"""The roles that say their name."""

QUIET: dict[str, Any] = {
    "app": "rest",
    "datasets": {"in": {}},
    "programs": {"work": {"run": "programs.work"}},
    "schedules": {"yearly": {"program": "work", "trigger": {"cron": "0 6 1 1 *"}, "status": "active"}},
}

World = Literal["night", "evening", "rest", "dead"]
WORLDS: tuple[World, ...] = ("night", "evening", "rest", "dead")
ASKED = only(WORLDS, *WORLDS[:3])
"""The night of a dead engine is asked the first question alone, and all of them in a soak."""


@dataclass
class Asked:
    """A world, and a page of a browser that reads it.

    Attributes:
        zone: the one whose clocks the page shows.
        at: the path that is open, and its sentences: nothing changes in a world.
    """

    world: World
    server: Served
    page: Page
    zone: ZoneInfo
    at: tuple[str, list[str]] = ("", [])

    def open(self, path: str) -> list[str]:
        """Open a page with all that is folded on it, and return its sentences."""
        if self.at[0] != path:
            self.page.goto(path)
            unfold = "all => all.forEach(each => { each.open = true; })"
            self.page.eval_on_selector_all("main details", unfold)
            self.at = path, sentences(self.page)
        return self.at[1]

    @property
    def jobs(self) -> list[Job]:
        """What the store has of schedules and tasks."""
        with self.server.store.reading() as reader:
            return [job for job in reader.jobs() if job.maintenance is None]

    @property
    def schedules(self) -> dict[str, ScheduleState]:
        with self.server.store.reading() as reader:
            return {each.ref: each for each in reader.schedules()}

    @property
    def started(self) -> set[str | None]:
        """The jobs whose run has started and not ended."""
        with self.server.store.reading() as reader:
            return {run.job for run in reader.runs(active=True) if run.status is RunStatus.STARTED}


@contextmanager
def asking(world: World, browser: Browser, folder: Path, empty: Path) -> Iterator[Asked]:
    """Build a world."""
    with served(folder, empty=empty) as server:
        zone = build(world, server)
        with answered(browser, server) as page:
            yield Asked(world, server, page, ZoneInfo(zone))


@pytest.fixture(scope="module", params=ASKED)
def asked(
    request: pytest.FixtureRequest,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
    empty_store: Path,
) -> Iterator[Asked]:
    """Each world, built once."""
    world: World = request.param
    with asking(world, browser, tmp_path_factory.mktemp(world), empty_store) as found:
        yield found


def build(world: World, server: Served) -> str:
    """Fill a store, and return the zone of the world."""
    if world == "rest":
        deployed(server, QUIET)
        server.pass_time(timedelta(minutes=1))
        return "UTC"
    if world == "evening":
        server.now = NOON.replace(hour=20, minute=45)
        board.fill(server)
        server.client.post(f"{NS}/apps/sales/schedules/each_day/update", json={"on_suspend": "hold"})
        return "UTC"
    deployed(server, night.SPEC)
    night.fill(server.store, server.now, server.now - timedelta(hours=1) * (world == "dead"))
    return night.ZONE


def sentences(page: Page) -> list[str]:
    """Return what the accessibility tree of a page says, a text for each sentence."""
    session = page.context.new_cdp_session(page)
    nodes = {each["nodeId"]: each for each in session.send("Accessibility.getFullAXTree")["nodes"]}
    session.detach()

    def text(node: dict[str, Any]) -> str:
        if node["role"]["value"] in TOLD and node.get("name", {}).get("value"):
            said: str = node["name"]["value"]
            return said
        return " ".join(filter(None, (text(nodes[id]) for id in node.get("childIds", ()) if id in nodes)))

    found = (text(each) for each in nodes.values() if each["role"]["value"] in SENTENCES)
    return [re.sub(r"\s+", " ", each).strip() for each in found]


def expect(said: list[str], *words: str) -> None:
    """Fail unless one sentence has all the words."""
    wanted = [word for word in words if word]
    assert any(all(word in each for word in wanted) for each in said), (wanted, said)


def cause(job: Job) -> str:
    """Return the first line of an error, as far as a line of a list has room."""
    return job.detail.splitlines()[0][:60]


def failed(asked: Asked) -> list[Job]:
    """Return what failed in the last 24 hours."""
    since = asked.server.now - RECENT
    return [job for job in asked.jobs if job.state is JobState.FAILED and (job.ended_at or since) >= since]


def waiting(asked: Asked) -> list[Job]:
    """Return the jobs of schedules and tasks that wait for something."""
    states = (JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT)
    return [job for job in asked.jobs if job.state in states and job.reason is not Reason.W_TIME]


def test_what_needs_me(asked: Asked):
    said = asked.open("/")
    late = [job for job in asked.jobs if job.late_at is not None and job.state not in FINISHED]
    for job in failed(asked):
        expect(said, "failed", job.schedule, job.key, cause(job))
    for job in late:
        expect(said, "late", job.schedule, job.key)
    number = len(failed(asked))
    if number:
        expect(
            said,
            f"{number} {'job' if number == 1 else 'jobs'} failed",
            f"{len(late)} is late" if late else "",
        )
    else:
        expect(said, "Nothing has failed in the last 24 hours, and nothing is late")
        expect(said, "Nothing needs a person")
    if asked.world == "dead":
        expect(said, "The engine does not tick. Nothing is started until it does")


def test_what_needs_me_while_the_engine_is_silent(browser: Browser, tmp_path: Path, empty_store: Path):
    with asking("dead", browser, tmp_path, empty_store) as found:
        test_what_needs_me(found)


def test_what_runs(asked: Asked):
    said = asked.open("/")
    jobs, started = [job for job in asked.jobs if job.state is JobState.LAUNCHED], asked.started
    running = [job for job in jobs if job.id in started]
    for job in jobs:
        expect(said, f"{name_of(job.schedule)} {job.key}", "running" if job.id in started else "queued")
    if running:
        expect(said, f"{len(running)} {'runs' if len(running) == 1 else 'run'}")
    elif not waiting(asked):
        expect(said, "No job runs or waits")


def why(job: Job, schedule: ScheduleState) -> tuple[str, ...]:
    """Return what a job waits for, in words that its answer has to have."""
    match job.reason:
        case Reason.W_WINDOW:
            window = next(each for each in schedule.spec.constraints if isinstance(each, WindowConstraint))
            return ("window", f"{window.from_:%H:%M}")
        case Reason.W_CONCURRENCY:
            return ("slot", f"{schedule.app}/{schedule.spec.program}")
        case Reason.W_HELD:
            return ("suspended",)
        case Reason.W_REPORT:
            return ("report", job.schedule)
        case Reason.W_UPSTREAM:
            return ("flights/flights_complete",)
        case _:
            return ("clean_flights", "weather")


def test_why_it_waits(asked: Asked):
    said = asked.open("/")
    states = asked.schedules
    for job in waiting(asked):
        expect(said, job.schedule, job.key, *why(job, states[job.schedule]))
        # The page of the job says it too, one link away.
        link = asked.page.locator(f'main a[href="/board/jobs/{job.id}"]').first
        assert link.get_attribute("href") == f"/board/jobs/{job.id}"
    for job in waiting(asked)[:3]:
        words = why(job, states[job.schedule])
        page = " ".join(asked.open(f"/board/jobs/{job.id}"))
        assert all(word in page for word in words[:1]), (job.id, words, page)
    if not waiting(asked):
        expect(said, "No job waits")


def test_what_happens_in_the_next_two_hours(asked: Asked):
    said = asked.open("/")
    now = asked.server.now

    def clock(at: datetime) -> str:
        return f"{at.astimezone(asked.zone):%H:%M}"

    for state in asked.schedules.values():
        fires = state.next_fire_at if state.spec.task is None and state.active else None
        if fires is not None and now <= fires <= now + SOON:
            expect(said, clock(fires), f"{state.name} fires")
    for job in waiting(asked):
        if (
            job.reason is Reason.W_WINDOW
            and job.next_check_at is not None
            and job.next_check_at <= now + SOON
        ):
            expect(said, clock(job.next_check_at), f"Window of {name_of(job.schedule)} opens")
    if asked.world == "rest":
        expect(said, "Nothing is known to come in this span")


def test_what_this_button_will_do(asked: Asked):
    jobs = waiting(asked)
    for state in (each for each in asked.schedules.values() if each.active and each.spec.task is None):
        own = [job for job in jobs if job.schedule == state.ref]
        said = asked.open(f"/board/schedules/{state.ref}/suspend")
        expect(said, f"{state.ref} is suspended")
        if own and state.spec.on_suspend == "discard":
            number = f"{len(own)} waiting {'job' if len(own) == 1 else 'jobs'} of {state.ref}"
            expect(said, number, "discarded", *(job.key for job in own))
        elif not own:
            assert not any("discarded" in each for each in said), said
    for job in failed(asked):
        said = asked.open(f"/board/jobs/{job.id}/retry")
        expect(said, f"1 failed job of {job.schedule} runs again", f"attempt {job.attempt + 1}", job.key)
