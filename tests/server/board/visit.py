"""What a page of the board is like in a browser: one visit answers all that is asked of each page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import axe_playwright_python
import httpx
from playwright.sync_api import Browser, Page, Route, ViewportSize

from tests.server.board.person import forms
from tests.server.board.seeded import TOKEN
from tests.server.serving import Served
from tidegate.server.browser_session import COOKIE

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text("utf-8")
CONTRAST = "color-contrast"

HOST = "http://127.0.0.1:8080"
"""Where a server of this process is, for its pages."""

WIDE: ViewportSize = {"width": 1400, "height": 900}
NARROW: ViewportSize = {"width": 400, "height": 800}
SIZES = {"wide": WIDE, "narrow": NARROW}

Looks = Sequence[tuple[Literal["wide", "narrow"], Literal["dark", "light"]]]
LOOKS: Looks = (("narrow", "dark"), ("wide", "dark"), ("wide", "light"), ("narrow", "light"))
"""Each width in each scheme."""

CROSSED: tuple[Looks, Looks] = (LOOKS[::2], LOOKS[1::2])
"""Both widths and both schemes, in two ways."""

KEEP_SOME_ALIKE = """() => {
    const names = ["href", "id", "title", "datetime", "aria-label", "aria-labelledby"];
    const look = element => [
        element.tagName,
        ...[...element.attributes].map(each => names.includes(each.name) ? "" : each.name + each.value),
        ...[...element.children].map(look),
        "/",
    ].join(" ");
    for (const parent of document.querySelectorAll("main *")) {
        const seen = {};
        for (const child of [...parent.children]) {
            const alike = look(child);
            seen[alike] = (seen[alike] ?? 0) + 1;
            if (seen[alike] > 2) child.remove();
        }
    }
}"""
"""Leave two of the children of an element that have the same elements and classes, so the same colours: axe
looks at contrast element by element, which took nine tenths of its time."""

SIDEWAYS = """() => {
    const may = ".scroll, pre, .yaml, .graph, .tabs, .tl, .runs-plot";
    const scrolls = each => ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
    return [...document.querySelectorAll("body *")]
        .filter(each => each.scrollWidth > each.clientWidth + 1 && scrolls(each) && !each.matches(may))
        .map(each => each.outerHTML.slice(0, 100));
}"""
"""What scrolls sideways, other than YAML, pictures and wide tables."""


@contextmanager
def answered(browser: Browser, server: Served) -> Iterator[Page]:
    """A page whose requests a server of this process answers, at its own time."""

    def answer(route: Route) -> None:
        asked = route.request
        given = {name: value for name, value in asked.headers.items() if name != "host"}
        path = asked.url.removeprefix(HOST)
        found = server.client.request(
            asked.method, path, headers=given, content=asked.post_data_buffer, follow_redirects=False
        )
        route.fulfill(status=found.status_code, headers=dict(found.headers), body=found.content)

    page = browser.new_page(base_url=HOST)
    page.route("**/*", answer)
    yield page
    page.close()


@contextmanager
def signed_in(browser: Browser, address: str, *, scripts: bool = True) -> Iterator[Page]:
    """A new page in the light scheme, signed in; it fails where the browser complains or asks elsewhere.

    A browser complains of what a script raises, and of what the policy forbids.
    """
    wrong: list[str] = []
    made = browser.new_page(base_url=address, java_script_enabled=scripts, color_scheme="light")
    session = httpx.post(f"{address}/board/sign-in", data={"token": TOKEN}, timeout=60).cookies[COOKIE]
    made.context.add_cookies([{"name": COOKIE, "value": session, "url": address}])
    made.on("console", lambda line: wrong.append(line.text) if line.type != "verbose" else None)
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith(address) else None)
    yield made
    made.close()
    assert wrong == []


class Found(NamedTuple):
    """Something that is wrong with a page.

    Attributes:
        at: the width, and the scheme.
        what: the rule of axe, or "sideways".
        where: the element.
    """

    path: str
    at: str
    what: str
    where: str


class Visit(NamedTuple):
    """See the module.

    Attributes:
        wrong: what axe finds, of any impact, wide and narrow, light and dark; and what scrolls sideways.
        forms: see `Person.met`.
    """

    path: str
    wrong: list[Found]
    forms: set[str]


def visit(page: Page, path: str, looks: Looks = LOOKS) -> Visit:
    """Load a page, and look at it wide and narrow.

    Args:
        looks: those in which its colours are looked at; without any, only its forms are.
    """
    answered = page.goto(path)
    assert answered is not None and answered.ok, path
    shown, wrong = forms(page), list[Found]()
    if looks:
        page.evaluate(AXE)
        for name, size in SIZES.items():
            page.set_viewport_size(size)
            wrong += _sideways(page, path, name, size["width"])
            wrong += _axe(page, path, name, {"rules": {CONTRAST: {"enabled": False}}})
        page.evaluate(KEEP_SOME_ALIKE)
        contrast = {"runOnly": {"type": "rule", "values": [CONTRAST]}}
        for name, scheme in looks:
            page.set_viewport_size(SIZES[name])
            page.emulate_media(color_scheme=scheme)
            wrong += _axe(page, path, f"{name}, {scheme}", contrast)
        page.set_viewport_size(WIDE)
        page.emulate_media(color_scheme="light")
    return Visit(path, wrong, shown)


def _sideways(page: Page, path: str, at: str, width: int) -> list[Found]:
    whole: int = page.evaluate("document.documentElement.scrollWidth")
    elements: list[str] = page.evaluate(SIDEWAYS)
    page_itself = [f"the page, {whole} of {width}"] if whole > width else []
    return [Found(path, at, "sideways", where) for where in (*page_itself, *elements)]


def _axe(page: Page, path: str, at: str, options: dict[str, Any]) -> list[Found]:
    wanted = {**options, "resultTypes": ["violations"]}
    violations = page.evaluate("options => axe.run(document, options)", wanted)["violations"]
    return [
        Found(path, at, each["id"], node["html"][:200]) for each in violations for node in each["nodes"][:3]
    ]
