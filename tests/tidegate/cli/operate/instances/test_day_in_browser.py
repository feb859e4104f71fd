"""The page of `tidegate day --html` in a browser: what it draws, and what a click shows. It asks for nothing.

A headless Chromium opens the file, as people do (`tests.browser`).
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import launched
from tests.tidegate.tasks import DAY, NINE, TEN, TaskProject

pytestmark = pytest.mark.store  # a process of its own

RED = "rgb(198, 40, 40)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new page; it fails where the page's script does."""
    wrong: list[str] = []
    made = browser.new_page(color_scheme="light")
    made.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    made.on("console", lambda line: wrong.append(f"{line.type}: {line.text}"))
    made.on("requestfailed", lambda asked: wrong.append(f"refused: {asked.url}"))
    yield made
    made.close()
    assert wrong == []


@pytest.fixture
def day(morning: TaskProject, page: Page) -> Page:
    """The page of that morning."""
    morning.project.run("day", DAY, "--html", "day.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = morning.project.folder / "day.html"
    page.goto(file.as_uri())
    assert asked == [file.as_uri()], "the page asks for something"
    return page


def cell_of(day: Page, label: str) -> Locator:
    """A cell of the matrix; its node in the graph has the same label."""
    return day.locator("table").get_by_role("link", name=label)


def test_the_matrix_has_a_cell_for_each_hour_with_instances_in_the_colour_of_its_status(day: Page) -> None:
    expect(day).to_have_title(f"Day {DAY} · Tidegate")
    rows = day.locator("tbody tr")
    assert [row.locator("th").inner_text() for row in rows.all()] == [
        "shop/feed UTC",
        "shop/clean UTC",
        "shop/revenue UTC",
        "shop/month_end suspended UTC",
    ]
    letters = [[cell.inner_text() for cell in row.locator("td a").all()] for row in rows.all()]
    assert letters == [["S", "S", "N"], ["S", "F", "N"], ["N"], ["E"]]
    failed = cell_of(day, f"shop/clean {NINE}: failed")
    expect(failed).to_have_css("background-color", RED)
    at_nine = day.locator("thead th").nth(10)
    assert at_nine.inner_text() == "9"
    column, cell = at_nine.bounding_box(), failed.bounding_box()
    assert column is not None and cell is not None
    assert column["x"] <= cell["x"] < column["x"] + column["width"], "the cell is in the column of its hour"


def test_the_graph_has_a_node_for_each_cell_and_an_arrow_for_each_edge(day: Page) -> None:
    expect(day.locator("svg .node circle")).to_have_count(8)
    expect(day.locator("svg .edge")).to_have_count(4)
    sizes = [node.bounding_box() for node in day.locator("svg .node").all()]
    assert all(size is not None and size["width"] > 0 for size in sizes), "a node is not drawn"
    expect(day.locator("svg .node.s-F circle")).to_have_css("fill", RED)


def test_a_click_shows_the_details_and_its_edges_and_the_keyboard_does_the_same(day: Page) -> None:
    details = day.locator(".details:visible")
    expect(details).to_have_count(0)
    cell_of(day, f"shop/clean {NINE}: failed").click()
    expect(details.locator("h2")).to_have_text("shop/clean")
    expect(details).to_contain_text("F-RUN")
    expect(details).to_contain_text(f"shop/feed {NINE}")
    expect(details.locator("code")).to_have_text(f"tidegate why shop/clean {NINE}")
    expect(day.locator(".edge.chosen")).to_have_count(1)
    waiting = cell_of(day, f"shop/clean {TEN}: not run").get_attribute("href")
    day.locator(f'svg a[href="{waiting}"]').focus()
    day.keyboard.press("Enter")
    expect(details.locator("h3")).to_have_text(TEN)
    expect(details).to_contain_text("Consumers")
    expect(details).to_contain_text(f"shop/revenue {DAY}")
    expect(day.locator(".edge.chosen")).to_have_count(2)


def test_a_dark_screen_gets_dark_colours(day: Page) -> None:
    light = day.locator("body").evaluate("each => getComputedStyle(each).backgroundColor")
    day.emulate_media(color_scheme="dark")
    dark = day.locator("body").evaluate("each => getComputedStyle(each).backgroundColor")
    assert (light, dark) == ("rgb(245, 246, 248)", "rgb(14, 18, 22)")
