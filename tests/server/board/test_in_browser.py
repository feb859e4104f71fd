"""The board in a browser, as people use it: pages with real data, buttons, the keyboard, narrow screens, axe.

A headless Chromium opens the pages of a server process. A machine without one has no such test.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import httpx
import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.server.board.cal import SPEC as CALENDARS
from tests.server.process import ServerProcess
from tests.server.sales import SPEC
from tests.server.shop import SHOP, where_the_day_begins
from tests.server.yard import YARD
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.tick.tick import tick
from tidegate.server.board.page import PAGES

pytestmark = pytest.mark.store  # a process of its own

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
NARROW: ViewportSize = {"width": 400, "height": 800}
SERIOUS = {"serious", "critical"}
NS = "/v3/namespaces/default"

OTHER_PAGES = (
    "/board/schedules/sales/each_day",
    "/board/schedules/shop/feed",
    "/board/schedules?app=sales",
    "/board/datasets/sales/raw",
    "/board/datasets/cal/wide?until=2026-03",
    "/board/datasets/cal/hours?until=2026-03&period=2026-03-03",
    "/board/datasets/cal/weeks",
    "/board/datasets/cal/minutes?until=2026-03-03",
    "/board/datasets?app=shop",
    "/board/events?schedule=sales/each_day",
    "/board/day?sign=N",
    "/board/maintenance/table?name=yard/report",
    "/board/sign-in",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project."""
    return tmp_path_factory.mktemp("board")


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[str]:
    """A server with three apps, waiting jobs, instances and tables."""
    (project / "tidegate.toml").write_text("")
    (project / "schedules").mkdir()
    server = ServerProcess(project, "--no-host")
    try:
        with server.client() as client:
            _fill(client)
        store = open_store(f"sqlite:///{project / '.tidegate' / 'store.db'}")
        for minutes in (0, 1):
            tick(store, datetime.now(UTC) + timedelta(minutes=minutes))
        store.close()
        yield server.address
    finally:
        server.end()


def _fill(client: httpx.Client) -> None:
    # The instances of the running day are made while they are ahead, whenever the test runs.
    shop = {**SHOP, "timezone": where_the_day_begins(datetime.now(UTC))}
    for spec in (SPEC, shop, YARD, CALENDARS):
        assert client.put(f"{NS}/apps/{spec['app']}", json={"spec": spec}).status_code == 200
    assert client.post(f"{NS}/apps/sales/schedules/daily/enable", json={}).status_code == 200
    days = [{"key": f"2026-03-0{day}", "rows": 100 * day} for day in (1, 2, 4, 5)]
    hours = [f"2026-03-0{day}-{hour:02}:00" for day in (1, 3) for hour in range(24)]
    landed = {
        "sales/raw": days,
        "cal/hours": [{"key": key} for key in hours],
        "cal/weeks": [{"key": "2026-02-08"}, {"key": "2026-02-22"}],
        "cal/minutes": [{"key": f"2026-03-03-05:{minute:02}"} for minute in range(60)],
        "cal/wide": [{"key": f"{hour}|s07"} for hour in hours],
    }
    for dataset, partitions in landed.items():
        app, _, name = dataset.partition("/")
        body = {"app": app, "dataset": name, "partitions": partitions}
        assert client.post(f"{NS}/events/partitions", json=body).status_code == 202


@pytest.fixture(scope="module", params=[path for path in (CHROMIUM,) if path.is_file()], ids=["chromium"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=request.param, args=FLAGS)
        yield started
        started.close()


@contextmanager
def opened(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> Iterator[Page]:
    """A new page in a colour scheme; it fails where the browser complains or asks elsewhere."""
    wrong: list[str] = []
    made = browser.new_page(color_scheme=scheme, base_url=address)
    made.on("console", lambda line: wrong.append(line.text) if line.type != "verbose" else None)
    made.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith(address) else None)
    yield made
    made.close()
    assert wrong == []


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A new page in the light scheme: the schemes differ in colours only."""
    with opened(browser, address, "light") as made:
        yield made


@pytest.fixture
def dark_page(browser: Browser, address: str) -> Iterator[Page]:
    """A new page in the dark scheme."""
    with opened(browser, address, "dark") as made:
        yield made


def test_axe_finds_nothing_serious_on_any_page(page: Page):
    assert _serious(page, {}) == []


def test_axe_finds_no_weak_contrast_in_the_dark(dark_page: Page):
    colours_only = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    assert _serious(dark_page, colours_only) == []


def test_no_page_is_wider_than_a_narrow_screen(page: Page):
    page.set_viewport_size(NARROW)
    for path in (*(path for path, _ in PAGES), *OTHER_PAGES, _jobs(page)[0]):
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= NARROW["width"], path


def test_a_person_suspends_resumes_and_forces_with_a_reason(page: Page):
    page.goto("/")
    page.get_by_role("link", name="Schedules", exact=True).click()
    page.get_by_label("App").select_option("sales")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="sales/each_day").click()
    for button, done in (("Suspend", "is suspended"), ("Resume", "is active")):
        _press(page, button, done)
        expect(page.get_by_role("region", name="History")).to_contain_text(f"{button} by a person")
    for button, day in (("Force", "2026-03-03"), ("Trigger", "2026-03-06")):
        form = page.locator("form").filter(has=page.get_by_role("button", name=button))
        form.get_by_label("Key").fill(day)
        _press(page, button, "is due")
    expect(page.get_by_role("region", name="Jobs of sales/each_day")).to_contain_text("2026-03-03")


def test_a_person_cancels_a_job_by_the_keyboard(page: Page, address: str):
    _open_new_job(page, address, "2026-04")
    page.goto(page.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    form = page.locator("form").filter(has=page.get_by_role("button", name="Cancel"))
    form.get_by_label("Reason").fill("not needed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("cancel is done")


def test_a_person_opens_a_day_of_a_calendar_by_the_keyboard(page: Page):
    page.goto("/board/datasets/cal/hours?until=2026-03")
    page.get_by_label("Until").focus()
    page.keyboard.press("Tab")  # to its button
    for _ in range(10):
        page.keyboard.press("Tab")
        said = page.evaluate("document.activeElement.getAttribute('aria-label')") or ""
        if said.startswith("2026-03-01"):
            break
    assert said == "2026-03-01: 24 of 24 hours landed"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Partitions of 2026-03-01")).to_be_visible()
    expect(page.get_by_role("region", name="Partitions of cal/hours")).to_contain_text("2026-03-01-23:00")


def test_a_person_presses_the_buttons_of_failed_jobs(page: Page, address: str, project: Path):
    for number, (button, reason) in enumerate((("Retry", Reason.F_RUN), ("Requeue", Reason.F_LAUNCH)), 6):
        key = _open_new_job(page, address, f"2026-{number:02}")
        _fail(project, key, reason)
        page.reload()
        _press(page, button, f"{button.lower()} is done")


def test_a_person_presses_the_buttons_of_an_instance_and_of_a_table(page: Page):
    page.goto("/board/schedules/shop/clean")
    page.get_by_role("region", name="Jobs of shop/clean").get_by_role("link").first.click()
    for button in ("Pause", "Resume", "Mark successful", "Rerun", "Mark successful", "Rerun downstream"):
        _press(page, button, f"{button.lower()} is done")
    page.goto("/board/maintenance/table?name=yard/report")
    page.locator("select[name=operation]").select_option("rewrite_data_files")
    _press(page, "Run now", "rewrite_data_files is asked for")


def test_the_tree_of_a_schedule_refreshes_and_the_focus_and_what_is_typed_stay(page: Page, address: str):
    page.goto("/board/schedules/sales/each_day")
    jobs = page.get_by_role("region", name="Jobs of sales/each_day")
    before = jobs.get_by_role("row").count()
    form = page.locator("form").filter(has=page.get_by_role("button", name="Force"))
    form.get_by_label("Reason").fill("not sent yet")
    last = jobs.get_by_role("link").last
    last.focus()
    day = {"key": f"2026-05-{before:02}"}
    body = {"app": "sales", "dataset": "raw", "partitions": [day]}
    assert httpx.post(f"{address}{NS}/events/partitions", json=body).status_code == 202
    expect(jobs).to_contain_text(day["key"], timeout=30_000)
    assert page.evaluate("document.activeElement.closest('[data-live]')?.dataset.live") == "jobs"
    expect(form.get_by_label("Reason")).to_have_value("not sent yet")
    page.get_by_role("button", name="Pause refreshing").press("Enter")
    expect(page.get_by_role("button", name="Resume refreshing")).to_be_focused()


def _press(page: Page, button: str, done: str) -> None:
    """Press a button with a reason, and wait until the page says what was done."""
    form = page.locator("form").filter(has=page.get_by_role("button", name=button, exact=True))
    form.get_by_label("Reason").fill(f"{button} by a person")
    form.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_role("status")).to_contain_text(done)


def _open_new_job(page: Page, address: str, month: str) -> str:
    """Report another day of a month, open the page of its job, and return the day."""
    page.goto("/board/schedules/sales/each_day")
    rows = page.get_by_role("region", name="Jobs of sales/each_day").get_by_role("link")
    key = f"{month}-{rows.filter(has_text=month).count() + 1:02}"
    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": key}]}
    assert httpx.post(f"{address}{NS}/events/partitions", json=body).status_code == 202
    page.reload()
    rows.filter(has_text=key).click()
    page.wait_for_url("**/board/jobs/*")
    return key


def _fail(project: Path, key: str, reason: Reason) -> None:
    """Let the job of a day have failed."""
    store = open_store(f"sqlite:///{project / '.tidegate' / 'store.db'}")
    with store.transaction() as transaction:
        (job,) = [each for each in transaction.jobs(schedules=["sales/each_day"]) if each.key == key]
        failed = msgspec.structs.replace(
            job, state=JobState.FAILED, reason=reason, ended_at=job.opened_at, next_check_at=None
        )
        transaction.put_jobs([failed])
    store.close()


def _serious(page: Page, options: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What axe finds serious: the page, the rule and the element."""
    found: list[tuple[str, str, str]] = []
    for path in (*(path for path, _ in PAGES), *OTHER_PAGES, _jobs(page)[0]):
        page.goto(path)
        violations = Axe().run(page, options=options).response["violations"]
        serious = [each for each in violations if each["impact"] in SERIOUS]
        found += [(path, each["id"], each["nodes"][0]["html"]) for each in serious]
    return found


def _jobs(page: Page) -> list[str]:
    """The pages of all jobs, the newest first."""
    page.goto("/board/jobs")
    links = page.get_by_role("region", name="Jobs").get_by_role("link").all()
    return [link.get_attribute("href") or "" for link in links]
