"""Every page and call, as the routes name them: no text becomes markup, and none answers who may not ask.

A new route is asked too: one with a name in its path fails here until `hostile.addresses` has one for it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from fastapi.routing import APIRoute
from playwright.sync_api import Browser, Page

from tests.browser import FIRST_PAINT
from tests.effort import some
from tests.server.board import hostile
from tests.server.board.board import HTML
from tests.server.board.hostile import MARK, Markup
from tests.server.board.visit import WIDE, answered
from tests.server.serving import NS, Served, served
from tidegate.scheduler.model.records.token import Role
from tidegate.server.application import OF_NAMESPACE, OTHERS
from tidegate.server.board.page import HEADERS
from tidegate.server.board.rendering import PAGES
from tidegate.server.browser_session import COOKIE

pytestmark = [pytest.mark.store]

OPEN = {
    "/healthz",
    "/readyz",
    "/board/static/{of}/{name:path}",
    "/board/sign-in",
    "/board/sign-out",
    "/auth/sign-in",
    "/auth/callback",
}
"""What answers without a token."""

FOR_READERS = {"/nextruntime", "/previousruntime"}
"""What is not a GET and changes nothing: a reader may call it."""

LEAST_PAGES = 70
ENDLESS = re.compile(r"[?&](day|sign|cursor|until|period|row|after|format|from|to)=|^/board/static/")
"""Links that lead on and on: to days, cells of calendars, pages of lists."""

DRAWING_MILLISECONDS = 300

WALKED = 3
"""One page of so many is walked, evenly spread; a soak walks each."""

WALKED_WHOLE = 2
"""The sign-in, which has no list of pages, and one page that has it."""

SCROLLED = 10
"""What a browser stops at beside elements that can be pressed: what scrolls."""

NAMES = {
    "app": "sales",
    "s": "each_day",
    "id": hostile.JOB,
    "number": "1",
    "action": "suspend",
    "task": "revenue",
}


class Answer(NamedTuple):
    """What a page answered, and what it is built of."""

    status: int
    policy: str
    kind: str
    markup: Markup


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Served]:
    """A board whose every text is hostile."""
    with served(tmp_path_factory.mktemp("hostile"), empty=empty_store) as server:
        hostile.fill(server)
        yield server


@pytest.fixture(scope="module")
def asked(world: Served) -> dict[str, list[str]]:
    """The addresses of each page that a route answers, by the path of the route."""
    named = hostile.addresses(world)
    return {path: named.get(path, [path]) for path in _pages()}


@pytest.fixture(scope="module")
def answers(world: Served, asked: dict[str, list[str]]) -> dict[str, Answer]:
    """The answers of all these, and of what they lead to."""
    found: dict[str, Answer] = {}
    left = [path for paths in asked.values() for path in paths]
    while left:
        path = left.pop()
        if path in found or ENDLESS.search(path) or not path.startswith("/"):
            continue
        answer = world.client.get(path, headers=HTML)
        markup = Markup(answer.text)
        found[path] = Answer(
            answer.status_code,
            answer.headers.get("content-security-policy", ""),
            answer.headers["content-type"],
            markup,
        )
        left += sorted(link.partition("#")[0] for link in markup.links)
    return found


def _routes() -> Iterator[tuple[str, str, APIRoute]]:
    """Every route: its method, its whole path, itself."""
    for prefix, routers in (("", OTHERS), (NS, OF_NAMESPACE)):
        for router in routers:
            for route in router.routes:
                if isinstance(route, APIRoute):
                    for method in sorted(route.methods):
                        yield method, f"{prefix}{route.path}", route


def _pages() -> list[str]:
    """The paths of the routes that answer with pages."""
    return [
        path
        for method, path, _ in _routes()
        if method == "GET" and (path == "/" or path.startswith("/board")) and path not in OPEN
    ]


def test_every_page_has_an_address(asked: dict[str, list[str]]):
    assert [path for paths in asked.values() for path in paths if "{" in path] == []
    assert {path for path, _ in PAGES} <= asked.keys()


def test_no_text_of_the_store_becomes_markup(answers: dict[str, Answer]):
    assert len(answers) >= LEAST_PAGES
    assert {path: each.status for path, each in answers.items() if each.status != httpx.codes.OK} == {}
    assert {path: each.markup.wrong for path, each in answers.items() if each.markup.wrong} == {}
    assert sum(MARK in each.markup.text for each in answers.values()) >= LEAST_PAGES // 4


def test_every_page_has_the_policy(answers: dict[str, Answer]):
    pages = {path: each for path, each in answers.items() if "text/html" in each.kind}
    assert {each.policy for each in pages.values()} == {HEADERS["Content-Security-Policy"]}
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_every_page_is_a_value(world: Served, asked: dict[str, list[str]]):
    for path in (each for paths in asked.values() for each in paths):
        answer = world.client.get(f"{path}{'&' if '?' in path else '?'}format=json", headers=HTML)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), path


DRAWN = (
    "/",
    "/board/search?q=sales",
    "/board/datasets?at=sales/raw",
    "/board/schedules/sales/each_day",
    f"/board/jobs/{hostile.JOB}",
    "/board/day",
)
"""Pages of which scripts make elements, of what the server answers in JSON."""


def test_no_script_of_a_text_runs_where_scripts_draw(world: Served, browser: Browser):
    with answered(browser, world) as page:
        page.add_init_script(f"window.{MARK} = () => {{ window.ran = true; }};")
        for path in DRAWN:
            page.goto(path)
            page.evaluate(FIRST_PAINT)
            page.keyboard.press("Control+k")
            page.keyboard.type("sales")
            page.wait_for_timeout(DRAWING_MILLISECONDS)
            assert page.evaluate("window.ran") is None, path
            wrong = Markup(page.content()).wrong
            assert [each for each in wrong if MARK in each or each.startswith(("img", "script:"))] == [], path


WALK = """begins => {
    const all = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
    const isStop = each => each.getAttribute("tabindex") !== "-1" && !each.disabled
        && each.checkVisibility({ visibilityProperty: true });
    const isFrame = each => each.closest(".side, body > .skip");
    const reached = [...document.querySelectorAll(all)].filter(isStop);
    const stops = begins ? reached : reached.filter(each => !isFrame(each));
    const name = each => each.outerHTML.slice(0, 160);
    const walk = window.walk = { stops: stops.map(name), seen: [], unseen: [], swapped: [] };
    const shape = each => each.ownerSVGElement && each.querySelector("rect, circle");
    const stroke = each => (each ? Object.values(getComputedStyle(each)).join() : "");
    const strokes = stops.map(each => stroke(shape(each)));
    let before = null;
    document.activeElement.blur();
    if (!begins) reached.filter(isFrame).at(-1).focus();
    addEventListener("focusin", ({ target }) => {
        const at = stops.indexOf(target), style = getComputedStyle(target);
        walk.seen.push(at);
        const isDrawn = shape(target) && stroke(shape(target)) !== strokes[at];
        const isOutlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        if (!isDrawn && !isOutlined) walk.unseen.push(name(target));
        const isBeside = before?.parentElement === target.parentElement && walk.seen.at(-2) < at;
        if (isBeside && !target.ownerSVGElement) {
            const [one, two] = [before, target].map(each => each.getBoundingClientRect());
            const besides = one.top < two.bottom - 1 && two.top < one.bottom - 1;
            if (besides ? two.left < one.left - 1 : two.top < one.top - 1) walk.swapped.push(name(target));
        }
        before = target;
    });
    return stops.length;
}"""
"""Notes what the Tab key reaches: the place of each element among all that it should reach, whether its focus
is seen, and siblings that come in another order than they are seen in. It begins at the top, or after the
list of pages, which is the same on every page."""

AT = "document.activeElement.outerHTML.slice(0, 160)"
"""The element that has the focus."""


@pytest.mark.slow
def test_every_page_is_used_by_the_keyboard_alone(
    world: Served, asked: dict[str, list[str]], browser: Browser
):
    wrong: list[tuple[str, str, object]] = []
    walked = some([paths[0] for paths in asked.values()], len(asked) // WALKED)
    with answered(browser, world) as page:
        page.set_viewport_size(WIDE)
        for number, path in enumerate(("/board/sign-in", *walked)):
            page.goto(path)
            if path.partition("?")[0] in {each.partition("?")[0] for each in DRAWN}:
                page.wait_for_timeout(DRAWING_MILLISECONDS)
            for _ in range(page.evaluate(WALK, number < WALKED_WHOLE) + SCROLLED):
                page.keyboard.press("Tab")
            walk = page.evaluate("window.walk")
            left = [each for at, each in enumerate(walk["stops"]) if at not in walk["seen"]]
            found = {"left": left, "not seen": walk["unseen"], "order": walk["swapped"]}
            wrong += [(path, what, each) for what, each in found.items() if each]
            wrong += [(path, *each) for each in _dialogs_that_keep_the_focus(page)]
    assert wrong == [], "\n".join(map(str, wrong))


def _dialogs_that_keep_the_focus(page: Page) -> Iterator[tuple[str, object]]:
    """Open the palette and the first action of a menu by the keyboard, and leave them by Escape."""
    dialog, menu = page.locator("dialog[open]"), page.locator("main details.menu summary")
    page.locator("#pause, a.skip").last.focus()
    before = page.evaluate(AT)
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    if page.evaluate(AT) != before:
        yield "palette", page.evaluate(AT)
    if not menu.count():
        return
    menu.first.focus()
    before = page.evaluate(AT)
    page.keyboard.press("Enter")
    if not page.locator("main details.menu[open] a").count():
        return
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    dialog.wait_for()
    page.keyboard.press("Escape")
    # It is empty once its `close` event, which gives the focus back, has been heard.
    page.locator("dialog[aria-labelledby=dialog-title]:empty").wait_for(state="attached")
    if page.evaluate(AT).replace(" open", "") != before:
        yield "dialog", page.evaluate(AT)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Served]:
    """Such a board that asks for a token."""
    with served(tmp_path_factory.mktemp("closed"), empty=empty_store) as server:
        hostile.fill(server)
        server.client.put(f"{NS}/apps/other", json={"spec": {"app": "other", "datasets": {"own": {}}}})
        for role in Role:
            server.token(role)
        server.token(Role.ADMIN, "other")
        yield server


def _filled(path: str, named: dict[str, list[str]]) -> str:
    if path in named:
        return named[path][0]
    return re.sub(r"{(\w+)(:\w+)?}", lambda found: NAMES.get(found[1], "sales"), path)


@pytest.mark.parametrize(("method", "path"), [(method, path) for method, path, _ in _routes()])
def test_without_a_token_nothing_answers(closed: Served, method: str, path: str):
    if path in OPEN:
        return
    answer = closed.client.request(method, _filled(path, {}), headers=HTML)
    assert answer.status_code == httpx.codes.UNAUTHORIZED, answer.text
    assert MARK not in answer.text


CALLS = [f"{NS}/search", f"{NS}/timeline"]
"""What scripts of the pages ask: a caller of REST may, too."""


@pytest.mark.parametrize("path", [*_pages(), *CALLS])
def test_a_token_of_another_app_reads_no_text_of_this_one(closed: Served, path: str):
    client = closed.of("admin-other")
    for asked in hostile.addresses(closed, client=closed.of("admin-all")).get(path, [path]):
        for kind in ("q=sales", "q=each") if path in CALLS else ("format=html", "format=json"):
            answer = client.get(f"{asked}{'&' if '?' in asked else '?'}{kind}")
            assert answer.status_code in (200, 400, 403, 404), (asked, answer.text)
            assert MARK not in answer.text, asked


@pytest.fixture(scope="module")
def admin(closed: Served) -> str:
    """The cookie of a browser in which an administrator has signed in."""
    client = closed.of()
    client.post("/board/sign-in", data={"token": "admin-all"}, follow_redirects=False)
    return client.cookies[COOKIE]


CHANGES = [(method, path) for method, path, _ in _routes() if method != "GET"]


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_change_needs_more_than_a_reader_and_more_than_a_cookie(
    closed: Served, admin: str, method: str, path: str
):
    if path in OPEN or path.removeprefix(NS) in FOR_READERS:
        return
    address = _filled(path, {})
    answer = closed.of("read-all").request(method, address, json={})
    assert answer.status_code == httpx.codes.FORBIDDEN, answer.text
    for origin in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        browser = closed.of(**origin)
        browser.cookies.set(COOKIE, admin)
        answer = browser.request(method, address, data={})
        assert answer.status_code in (401, 403), (origin, answer.text)
