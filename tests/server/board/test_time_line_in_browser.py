"""The time line as people use it: drawn, by the keyboard, narrowed, in the address, and without scripts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.server.board.night import night
from tests.server.board.visit import signed_in, visit

pytestmark = pytest.mark.store  # a process of its own

FOCUSED = "document.activeElement.getAttribute('aria-label') ?? ''"
LANE = "document.activeElement.closest('.tl-track').getAttribute('aria-label')"
STOPS = "document.querySelectorAll('.tl-track a[tabindex=\"0\"]').length"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a project in the middle of its work."""
    folder: Path = tmp_path_factory.mktemp("night")
    with night(folder) as server:
        yield server.address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The first page, its time line drawn."""
    with signed_in(browser, address) as made:
        made.goto("/")
        expect(made.locator(".tl-lane").first).to_be_visible()
        yield made


def test_a_lane_says_its_state_and_a_mark_all_that_its_tip_says(page: Page) -> None:
    expect(page.get_by_role("link", name="clean_flights_daily : runs 2013-12-20")).to_be_visible()
    bar = page.get_by_role("link", name="clean_flights_daily 2013-12-20, running for")
    name = bar.get_attribute("aria-label") or ""
    assert "usually ends about" in name
    bar.focus()
    expect(page.locator(".tip")).to_be_visible()
    assert ", ".join(page.locator(".tip > *").all_inner_texts()) == name
    page.keyboard.press("Escape")
    expect(page.locator(".tip")).to_be_hidden()


def test_it_is_one_tab_stop_and_arrows_walk_through_marks_and_lanes(page: Page) -> None:
    assert page.evaluate(STOPS) == 1
    page.locator('.tl-track a[tabindex="0"]').focus()
    page.keyboard.press("End")
    last = page.evaluate(FOCUSED)
    page.keyboard.press("Home")
    first, lane = page.evaluate(FOCUSED), page.evaluate(LANE)
    page.keyboard.press("ArrowRight")
    second = page.evaluate(FOCUSED)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FOCUSED) == first
    assert len({first, second, last}) == 3
    page.keyboard.press("ArrowDown")
    assert page.evaluate(LANE) != lane
    page.keyboard.press("ArrowUp")  # to the mark that is nearest in time: which one depends on the hour
    assert page.evaluate(LANE) == lane
    assert page.evaluate(STOPS) == 1


def test_span_text_and_states_are_in_the_address_and_come_back_with_it(page: Page) -> None:
    page.get_by_role("link", name="6 h", exact=True).click()
    page.wait_for_url("**from=-2h&to=%2B4h**")
    expect(page.get_by_role("link", name="6 h", exact=True)).to_have_attribute("aria-current", "true")
    page.get_by_label("Filter lanes by name").fill("daily")
    page.wait_for_url("**q=daily**")
    expect(page.locator("#tl-count")).to_have_text("2 lanes")
    page.locator("#time-line").get_by_role("link", name="Running", exact=True).click()
    page.wait_for_url("**state=running**")
    expect(page.locator("#tl-count")).to_have_text("1 lane")
    page.reload()
    expect(page.locator("#tl-count")).to_have_text("1 lane")
    expect(page.locator(".tl-lane")).to_have_count(1)
    expect(page.get_by_label("Filter lanes by name")).to_have_value("daily")


def test_keys_zoom_buttons_move_and_an_app_folds(page: Page) -> None:
    page.locator('.tl-track a[tabindex="0"]').focus()
    page.keyboard.press("+")
    page.wait_for_url("**from=**")
    zoomed = page.url
    page.get_by_role("button", name="Later").click()
    page.wait_for_url(lambda url: url != zoomed)
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page.locator(".tl-overlay .now")).to_have_count(1)
    fold = page.locator(".tl-fold")
    fold.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(fold).to_be_focused()
    expect(page.locator(".tl-lane")).to_have_count(0)


def test_axe_finds_nothing_and_nothing_scrolls_sideways(page: Page) -> None:
    assert visit(page, "/").wrong == []


def test_without_scripts_the_table_has_runs_and_next_instants(browser: Browser, address: str) -> None:
    with signed_in(browser, address, scripts=False) as made:
        made.goto("/")
        table = made.get_by_role("region", name="Runs and next instants")
        expect(table).to_contain_text("runs 2013-12-20")
        expect(table).to_contain_text("usually until")
        made.get_by_role("link", name="6 h", exact=True).click()
        expect(made).to_have_url(f"{address}/?from=-2h&to=%2B4h#time-line")
        expect(made.get_by_role("link", name="6 h", exact=True)).to_have_attribute("aria-current", "true")
