"""The board in a browser, as people use it: pages with real data, buttons, the keyboard, narrow screens, axe.

A headless Chromium opens the pages of a server process (`tests.browser`).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.effort import EFFORT
from tests.server.board.board import LIKE_JOBS
from tests.server.board.person import STEPS, Person
from tests.server.board.seeded import report, run_job, seeded
from tests.server.board.visit import CROSSED, LOOKS, Looks, Visit, signed_in, visit
from tidegate.server.board.rendering import PAGES

pytestmark = pytest.mark.store  # a process of its own

OTHER_PAGES = (
    "/board/schedules/sales/each_day",
    "/board/schedules/shop/feed",
    "/board/datasets/sales/raw",
    "/board/datasets/cal/wide?until=2026-03",
    "/board/datasets/cal/hours?until=2026-03&period=2026-03-03",
    "/board/datasets/cal/minutes?until=2026-03-03",
    "/board/maintenance/table?name=yard/report",
    "/board/backfills/1",
    "/board/schedules/sales/daily",
    "/board/schedules?app=yard",
    "/board/sign-in",
    "/board/schedules/sales/each_day/suspend",
    "/board/schedules/sales/each_day/trigger",
    "/board/backfills/start",
)
ALIKE = (
    "/board/schedules?app=sales",
    "/board/datasets?app=shop",
    "/board/datasets/cal/weeks",
    "/board/events?schedule=sales/each_day",
    "/board/day?sign=N",
)
"""Pages that show less of what others show; a soak visits them, too."""

WEAK = """<!doctype html><html lang="en"><title>Weak</title><style>:root {color-scheme: light dark}
@media (prefers-color-scheme: dark) {p {color: #333; background: #222}}</style>
<main><h1>Weak</h1><div style="width: 600px"><p>one</p></div><input></main>"""
"""Without a label, too wide for a narrow screen, and hard to read in the dark."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project."""
    return tmp_path_factory.mktemp("board")


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[str]:
    """A server with something on every page."""
    with seeded(project) as server:
        yield server.address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A new page in the light scheme: the schemes differ in colours only."""
    with signed_in(browser, address) as made:
        yield made


@pytest.fixture(scope="module")
def visits(browser: Browser, address: str) -> list[Visit]:
    """What each page is like; each is loaded once."""
    with signed_in(browser, address) as page:
        return [visit(page, path, _looks(number, path)) for number, path in enumerate(_all_paths(page))]


def _looks(number: int, path: str) -> Looks:
    """Of each second page each width and each scheme once, in turns; in a soak, each width in each scheme."""
    if EFFORT > 1:
        return LOOKS
    return () if path in LIKE_JOBS or number % 2 else CROSSED[number // 2 % 2]


def test_a_visit_finds_what_is_wrong(page: Page):
    page.route("**/weak", lambda route: route.fulfill(body=WEAK, content_type="text/html"))
    found = {(each.at, each.what) for each in visit(page, "/weak").wrong}
    assert {("wide", "label"), ("narrow", "label"), ("narrow", "sideways")} <= found
    assert {at for at, what in found if what == "color-contrast"} == {"wide, dark", "narrow, dark"}


def test_nothing_is_wrong_with_any_page(visits: list[Visit]):
    """Axe finds nothing of any impact, wide and narrow, light and dark, and no page scrolls sideways.

    Of each second page two of these four looks are looked at, in turns, and in a soak all of each page.
    """
    assert [found for each in visits for found in each.wrong] == []


def test_a_person_cancels_a_job_by_the_keyboard(page: Page, address: str, project: Path):
    Person(page, address, project).open_new_job("2026-04")
    page.goto(page.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    menu = page.locator("details.menu summary")
    menu.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Force…")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Cancel…")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 waiting job of sales/each_day is discarded: ")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(menu).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("not needed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("is discarded")


def test_an_action_asks_for_its_key_in_the_dialog_and_the_safe_button_closes_it(page: Page):
    page.goto("/board/schedules/sales/each_day")
    page.locator("details.menu summary").click()
    page.get_by_role("link", name="Trigger…").click()
    dialog = page.get_by_role("dialog", name="Trigger sales/each_day?")
    dialog.get_by_label("Key").fill("2026-02-02")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Trigger sales/each_day: 2026-02-02?")).to_contain_text(
        "is opened"
    )
    page.get_by_role("link", name="Leave it as it is").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith("/board/schedules/sales/each_day")


def test_the_bars_of_runs_are_one_stop_and_arrows_walk_through_them(page: Page, project: Path):
    for day in ("2026-03-01", "2026-03-02"):
        run_job(project, day)
    page.goto("/board/schedules/sales/each_day")
    bars = page.locator(".bars a")
    expect(bars.last).to_have_attribute("tabindex", "0")
    bars.last.focus()
    page.keyboard.press("ArrowLeft")
    expect(bars.nth(bars.count() - 2)).to_be_focused()


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


def test_the_tree_of_a_schedule_refreshes_and_the_focus_stays(page: Page, address: str):
    page.goto("/board/schedules/sales/each_day")
    jobs = page.get_by_role("region", name="Jobs of sales/each_day")
    before = jobs.get_by_role("row").count()
    last = jobs.get_by_role("link").last
    last.focus()
    day = f"2026-05-{before:02}"
    report(address, day)
    expect(jobs).to_contain_text(day, timeout=30_000)
    assert page.evaluate("document.activeElement.closest('[data-live]')?.dataset.live") == "jobs"
    pause = page.get_by_role("button", name="Pause updates")
    pause.press("Enter")
    expect(pause).to_be_focused()
    expect(pause).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("banner")).to_contain_text("Paused")


def test_the_scheme_that_was_chosen_stays_on_the_next_page(page: Page):
    page.goto("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for name in ("Scheme: as the system", "Scheme: light"):
        page.get_by_role("button", name=name, exact=True).click()
    page.goto("/board/jobs")
    expect(page.get_by_role("button", name="Scheme: dark")).to_be_visible()
    assert page.evaluate(ground) != light


def test_every_button_on_every_page_is_pressed(page: Page, address: str, project: Path, visits: list[Visit]):
    person = Person(page, address, project)
    for each in visits:
        person.met |= each.forms
    for step in STEPS:
        step(person)
    assert person.met == person.pressed


def _all_paths(page: Page) -> tuple[str, ...]:
    """The pages of the menu, others with something on them, those of the newest job and deployment, and that
    of a way back.
    """
    deployments = _links(page, "/board/deployments")
    back = [path for path in deployments if path.endswith("/rollback")][-1]
    more = ALIKE if EFFORT > 1 else ()
    return (
        *(path for path, _ in PAGES),
        *OTHER_PAGES,
        *more,
        _links(page, "/board/jobs")[0],
        deployments[0],
        back,
    )


def _links(page: Page, path: str) -> list[str]:
    """The links of the content of a page, in order."""
    page.goto(path)
    found: list[str] = page.eval_on_selector_all(
        "main section a, main table a", "links => links.map(link => link.getAttribute('href'))"
    )
    return found


def test_a_person_goes_through_the_graph_of_datasets_by_the_keyboard(page: Page):
    page.goto("/board/datasets")
    card = page.locator("#canvas").get_by_role("link", name="cleaned:")
    raw = page.locator("#canvas").get_by_role("link", name="raw: fresh")
    expect(card).to_be_visible()
    world = page.locator("#world")
    before = world.get_attribute("transform")
    card.focus()
    page.keyboard.press("+")
    zoomed = world.get_attribute("transform")
    page.keyboard.press("ArrowLeft")
    assert len({before, zoomed, world.get_attribute("transform")}) == 3
    page.keyboard.press("Enter")
    drawer = page.get_by_role("complementary", name="cleaned")
    expect(drawer.get_by_role("link", name="Calendar and partitions")).to_have_attribute(
        "href", "/board/datasets/sales/cleaned"
    )
    expect(drawer).to_contain_text("starts sales/each_day")
    expect(page).to_have_url(re.compile(r"at=sales%2Fcleaned"))
    assert "dim" not in (raw.get_attribute("class") or "")
    expect(page.locator(".node.dim")).not_to_have_count(0)
    drawer.get_by_role("link", name="raw").press("Enter")
    expect(page.get_by_role("complementary", name="raw")).to_be_visible()
    page.keyboard.press("Escape")
    expect(raw).to_be_focused()
    expect(page.locator(".node.dim")).to_have_count(0)


def test_the_graph_of_datasets_folds_apps_finds_names_and_shows_programs(page: Page):
    page.goto("/board/datasets")
    cards = page.locator("#canvas").get_by_role("link")
    expect(cards).not_to_have_count(0)
    shown = cards.count()
    page.get_by_role("button", name="cal", exact=True).press("Enter")
    folded = cards.filter(has_text="cal")
    expect(folded).to_have_accessible_name("cal, app: 12 datasets")
    assert cards.count() == shown - 11
    folded.press("Enter")
    expect(cards).to_have_count(shown)
    page.get_by_role("button", name="Programs").press("Enter")
    expect(page.locator(".node.program")).not_to_have_count(0)
    dashed = page.locator(".edge-line.trig[marker-end]")
    expect(dashed.first).to_contain_text("starts sales/each_day")
    page.get_by_role("button", name="Triggers").press("Enter")
    expect(dashed).to_have_count(0)
    page.get_by_role("searchbox", name="Find a dataset").fill("cleaned")
    expect(page.locator(".node.dataset:not(.dim)")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 dataset:")


def test_the_palette_is_used_by_the_keyboard(page: Page):
    page.goto("/board/jobs")
    pause = page.get_by_role("button", name="Pause updates")
    pause.focus()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Find a page")
    expect(box).to_be_focused()
    page.keyboard.type("each_day")
    options = page.get_by_role("listbox", name="Found").get_by_role("option")
    expect(options.first).to_contain_text("sales/each_day")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(pause).to_be_focused()

    page.keyboard.press("Control+k")
    # Until this is answered, the options are those of the text before.
    with page.expect_response(lambda answer: answer.url.endswith("q=sales")) as answered:
        page.keyboard.type("sales")
    names = [each["name"] for each in answered.value.json()["items"]]
    second = names[1]
    expect(options).to_have_count(len(names))
    expect(options.nth(1).locator("span").first).to_have_text(second)
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(second.rpartition("/")[2])
