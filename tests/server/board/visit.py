"""What a page of the board is like in a browser: one visit answers all that is asked of each page."""

from pathlib import Path
from typing import Any, NamedTuple

import axe_playwright_python
from playwright.sync_api import Page, ViewportSize

from tests.server.board.person import forms

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text("utf-8")
SERIOUS = {"serious", "critical"}
CONTRAST = "color-contrast"

WIDE: ViewportSize = {"width": 1280, "height": 720}
NARROW: ViewportSize = {"width": 400, "height": 800}

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


class Visit(NamedTuple):
    """See the module.

    Attributes:
        serious: what axe finds serious in the light scheme: the page, the rule and the element.
        weak_in_the_dark: the weak contrasts that it finds in the dark one.
        width_on_narrow: how wide it is on a narrow screen.
        forms: see `Person.met`.
    """

    path: str
    serious: list[tuple[str, str, str]]
    weak_in_the_dark: list[tuple[str, str, str]]
    width_on_narrow: int
    forms: set[str]


def visit(page: Page, path: str) -> Visit:
    """Load a page, and look at it in both schemes and on a narrow screen."""
    answered = page.goto(path)
    assert answered is not None and answered.ok, path
    found = forms(page)
    page.set_viewport_size(NARROW)
    width: int = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(WIDE)

    page.evaluate(AXE)
    serious = _serious(page, path, {"rules": {CONTRAST: {"enabled": False}}})
    page.evaluate(KEEP_SOME_ALIKE)
    contrast = {"runOnly": {"type": "rule", "values": [CONTRAST]}}
    serious += _serious(page, path, contrast)
    page.emulate_media(color_scheme="dark")
    weak = _serious(page, path, contrast)
    page.emulate_media(color_scheme="light")
    return Visit(path, serious, weak, width, found)


def _serious(page: Page, path: str, options: dict[str, Any]) -> list[tuple[str, str, str]]:
    wanted = {**options, "resultTypes": ["violations"]}
    violations = page.evaluate("options => axe.run(document, options)", wanted)["violations"]
    return [(path, each["id"], each["nodes"][0]["html"]) for each in violations if each["impact"] in SERIOUS]
