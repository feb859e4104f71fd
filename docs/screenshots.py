"""`make screenshots`: pictures of the Dagster UI and of the board at work on the example app, in docs/images.

A temporary project gets the flights app, a real Dagster runs on it, and some feeds land, so
that one run has ended well and two jobs wait for different reasons. What is waited for is
what the store and Dagster say, each wait with a deadline. A headless Chromium takes the
pictures; it reaches nothing but the loopback interface. All processes end with the script.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from dagster import DagsterInstance
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Page, Route, sync_playwright

from tests.browser import REMEDY, find_browser, install_browser
from tidegate.demo.class_archive import archive_file, java_options
from tidegate.demo.feed import Chunk
from tidegate.demo.landing import Landing
from tidegate.domain.error import UserError
from tidegate.processes.code_servers import HOST
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.graphql import ask
from tidegate.processes.home import DEVELOPMENT, SETTINGS_NAME, site_of
from tidegate.processes.site import ProcessFailed, Site
from tidegate.project.environment import LOCATION_NAME
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.project.yaml_files import compile_paths
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.job import FINISHED, WAITING, Job, JobState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

WIDTH_PIXELS, HEIGHT_PIXELS = 1400, 900
IMAGE_LIMIT_BYTES = 300_000
SIGNAL_SECONDS = 400
"""How long a run may take to end, or the daemon to tick, on a busy machine."""

PAGE_SECONDS = 60
POLL_SECONDS = 0.3

REPOSITORY = f"/locations/__repository__@{LOCATION_NAME}"
DISPATCHER = "tidegate_dispatcher"
NO_RUNS = "0 runs requested"
GRAPH_UP_PIXELS = 245
NOTHING_LOADS = "() => !document.body.innerText.includes('Loading')"

CLEAN_FLIGHTS = "flights/clean_flights_daily"
CLEAN_WEATHER = "flights/clean_weather_as_it_comes"

PROJECT_SETTINGS = """\
[spark]
master = "local[1]"

[spark.conf]
"spark.sql.shuffle.partitions" = "1"
"""
NO_WELCOME = "\nnux:\n  enabled: false\n"
"""Keeps the dialog away with which Dagster greets a new user."""

TICKS = """
query Ticks($selector: SensorSelector!) {
  sensorOrError(sensorSelector: $selector) {
    ... on Sensor { sensorState { ticks(limit: 3) { status skipReason } } }
  }
}
"""

T = TypeVar("T")


class Failed(Exception):
    """The pictures cannot be taken; the message says why."""


class Example:
    """The flights app in a temporary project, with Dagster running on it."""

    def __init__(self, folder: Path) -> None:
        (folder / "schedules").mkdir()
        app = ROOT / "schedules" / "flights.yaml"
        (folder / "schedules" / app.name).write_bytes(app.read_bytes())
        (folder / "tidegate.toml").write_text(PROJECT_SETTINGS)
        (folder / SETTINGS_NAME).write_text(DEVELOPMENT + NO_WELCOME)
        self.settings: Settings = load_settings(folder)
        self.store: Store = open_store(self.settings.store_url)
        site = site_of(self.settings)
        environment = {**site.environment, "JDK_JAVA_OPTIONS": java_options(archive_file())}
        self.site: Site = replace(site, environment=environment)
        self.processes = DagsterProcesses(self.site)

    def start(self) -> None:
        """Deploy the app and start Dagster."""
        compilation = compile_paths(
            [self.settings.schedules], self.settings.project, without=self.settings.undeployed
        )
        if not compilation.ok:
            raise Failed(f"{compilation.diagnostics[0].summary}: see `tidegate lint`")
        apps = {name: compiled.app for name, compiled in compilation.apps.items()}
        with self.store.transaction() as transaction:
            deploy(transaction, apps, datetime.now(UTC), by=By(actor="cli:ada"))
        self.processes.start_code_server()
        self.processes.start_daemon()
        self.processes.start_webserver()

    def play(self) -> str:
        """Land some feeds, and wait until a run has succeeded and two jobs wait; returns the run's id."""
        with DagsterInstance.from_config(str(self.site.home)) as instance:
            landing = Landing(self.settings, instance)
            for chunk in (
                *(Chunk(kind="flights", day="2013-12-22", origin=origin) for origin in ("JFK", "EWR", "LGA")),
                *(Chunk(kind="flights", day="2013-12-23", origin=origin) for origin in ("LGA", "JFK")),
                Chunk(kind="weather", day="2013-12-23"),
            ):
                landing.deliver(chunk)
            cleaned = self.until("the first day of flights is cleaned", lambda: self._ended(CLEAN_FLIGHTS))
            self.until("the first weather is cleaned", lambda: self._ended(CLEAN_WEATHER))
            # This one comes too soon after that run.
            landing.deliver(Chunk(kind="weather", day="2013-12-24"))
            self.until("the next weather waits", lambda: self._waits(CLEAN_WEATHER, Reason.W_LAST_RUN))
            self.until("the next day of flights waits", lambda: self._waits(CLEAN_FLIGHTS, Reason.W_TRIGGER))
            self.until("a tick says what waits", self._told)
        assert cleaned is not None and cleaned.run_id is not None
        return cleaned.run_id

    def stop(self) -> None:
        """End all processes."""
        self.processes.stop()
        self.store.close()

    def until(self, what: str, look: Callable[[], T]) -> T:
        """Look again and again until there is something to see."""
        print(f"waiting until {what}", flush=True)
        deadline = time.monotonic() + SIGNAL_SECONDS
        while not (found := look()):
            dead = self.processes.dead()
            if dead is not None:
                raise dead.failed("has ended")
            if time.monotonic() > deadline:
                raise Failed(f"not within {SIGNAL_SECONDS} s: {what}")
            time.sleep(POLL_SECONDS)
        return found

    def _ended(self, schedule: str) -> Job | None:
        job = next((job for job in self._jobs(schedule) if job.state in FINISHED), None)
        if job is not None and job.state is not JobState.SUCCEEDED:
            raise Failed(f"the first job of {schedule} has ended as {job.state} {job.detail}")
        return job

    def _waits(self, schedule: str, reason: Reason) -> bool:
        return any(job.state in WAITING and job.reason is reason for job in self._jobs(schedule))

    def _jobs(self, schedule: str) -> tuple[Job, ...]:
        with self.store.reading() as reader:
            return reader.jobs(schedules=[schedule])

    def _told(self) -> bool:
        """Whether one of the dispatcher's last ticks was skipped and names the weather that waits."""
        selector = {
            "repositoryLocationName": LOCATION_NAME,
            "repositoryName": "__repository__",
            "sensorName": DISPATCHER,
        }
        answer: dict[str, Any] = ask(self.site.url, TICKS, {"selector": selector})["sensorOrError"]
        # The newest one has no reason while it runs.
        return any(Reason.W_LAST_RUN in (tick["skipReason"] or "") for tick in answer["sensorState"]["ticks"])


class Camera:
    """A browser page on the UI, and the folder of its pictures."""

    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._url = url
        page.set_default_timeout(PAGE_SECONDS * 1000)
        page.route("**/*", _only_loopback)

    def take(self, name: str, path: str, *texts: str, before: Callable[[Page], None] | None = None) -> None:
        """Take a picture of a page once it shows some texts and has loaded all.

        Args:
            before: what to do on the page before the picture.
        """
        page = self._page
        page.goto(self._url + path)
        for text in texts:
            page.get_by_text(text).locator("visible=true").first.wait_for()
        page.wait_for_load_state("networkidle")
        if before is not None:
            before(page)
        page.wait_for_function(NOTHING_LOADS)
        page.wait_for_load_state("networkidle")
        file = IMAGES / name
        page.screenshot(path=file, animations="disabled")
        size = file.stat().st_size
        if size > IMAGE_LIMIT_BYTES:
            raise Failed(f"{name} has {size:,} bytes, more than {IMAGE_LIMIT_BYTES:,}")
        print(f"docs/images/{name}  {size:,} bytes", flush=True)


def _only_loopback(route: Route) -> None:
    if urlsplit(route.request.url).hostname in (HOST, None):
        route.continue_()
    else:
        route.abort()


def _to_the_top(page: Page) -> None:
    """The graph opens at its middle; the flights and their weather are above."""
    # A corner of the graph where nothing is: what is under the mouse would be highlighted.
    page.mouse.move(300, HEIGHT_PIXELS - 50)
    page.mouse.wheel(0, -GRAPH_UP_PIXELS)
    page.get_by_text("raw_flights").first.wait_for()


def _open_tick(page: Page) -> None:
    page.locator("table a, table button").get_by_text(NO_RUNS).first.click()
    page.get_by_text(Reason.W_LAST_RUN).first.wait_for()


def _open_tags(page: Page) -> None:
    page.get_by_text("View tags and config").click()
    page.get_by_text("tidegate/reason").first.wait_for()


@contextmanager
def board_of(project: Path) -> Iterator[str]:
    """Serve the board of a project, and yield its address."""
    ready = project / "address"
    command = [sys.executable, "-m", "tidegate.cli.main", "serve", "--no-host", "--port", "0"]
    server = subprocess.Popen([*command, "--ready-file", str(ready)], cwd=project)
    try:
        deadline = time.monotonic() + SIGNAL_SECONDS
        while not ready.is_file():
            if server.poll() is not None or time.monotonic() > deadline:
                raise Failed("the server does not answer")
            time.sleep(POLL_SECONDS)
        yield ready.read_text()
    finally:
        server.terminate()
        server.wait()


def take_board(camera: "Camera") -> None:
    """Take the pictures of the board."""
    camera.take("board_now.png", "/", "What waits, and for what")
    camera.take("board_schedule.png", f"/board/schedules/{CLEAN_FLIGHTS}", "Conditions")
    camera.take("board_datasets.png", "/board/datasets?app=flights", "carrier_report")
    camera.take("board_ledger.png", "/board/ledger", CLEAN_WEATHER)
    camera.take("board_events.png", f"/board/events?schedule={CLEAN_FLIGHTS}", "succeeded")
    camera.take("board_calendar.png", "/board/datasets/flights/raw_flights", "landed")


def take_pictures(url: str, board: str, run_id: str) -> None:
    """Take all pictures of a UI and of the board."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=CHROMIUM_FLAGS)
        try:
            page = browser.new_page(
                viewport={"width": WIDTH_PIXELS, "height": HEIGHT_PIXELS},
                color_scheme="light",
                locale="en-US",
                timezone_id="America/New_York",
            )
            camera = Camera(page, url)
            group = f"{REPOSITORY}/asset-groups/flights/lineage"
            camera.take("assets.png", group, "carrier_report", before=_to_the_top)
            partition = "/assets/flights/clean_flights?view=partitions&partition=2013-12-22"
            camera.take("partition.png", partition, "895", "tidegate/commit")
            camera.take("automation.png", "/automation", DISPATCHER, "refresh_reference_nightly")
            camera.take("sensor.png", f"{REPOSITORY}/sensors/{DISPATCHER}", NO_RUNS)
            camera.take("tick.png", f"{REPOSITORY}/sensors/{DISPATCHER}", NO_RUNS, before=_open_tick)
            camera.take("run.png", f"/runs/{run_id}", "RUN_SUCCESS")
            camera.take("run_tags.png", f"/runs/{run_id}", "RUN_SUCCESS", before=_open_tags)
            take_board(Camera(page, board))
        finally:
            browser.close()


def main() -> int:
    """Makes the pictures.

    Returns:
        The exit code.
    """
    if install_browser() is None:
        print(REMEDY, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tidegate-pictures-") as folder:
        example = Example(Path(folder).resolve())
        try:
            with example.processes:
                example.start()
                run_id = example.play()
                with board_of(example.settings.project) as board:
                    take_pictures(example.site.url, board, run_id)
        except (UserError, Failed, ProcessFailed, BrowserError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        finally:
            example.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
