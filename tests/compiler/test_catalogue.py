"""The catalogue of diagnostics and the page that shows it."""

import re
from pathlib import Path

from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.remedies import REMEDIES
from tidegate.project.rendered_pages import catalogue_markdown

ROOT = Path(__file__).parents[2]


def test_the_page_is_the_catalogue() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert page == catalogue_markdown(), "`make pages` writes docs/diagnostics.md again"


def test_every_code_that_the_compiler_uses_is_in_the_catalogue_and_none_is_there_for_nothing() -> None:
    used: set[str] = set()
    for folder in ("compiler", "tidegate"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name not in ("catalogue.py", "remedies.py"):
                used.update(re.findall(r'"([RSVNQLT]\d{3})"', file.read_text(encoding="utf-8")))
    assert used == set(CATALOGUE)


def test_a_table_cell_holds_no_bar() -> None:
    assert not any("|" in entry.title + entry.explanation for entry in CATALOGUE.values())
    assert not any("|" in remedy for remedy in REMEDIES.values())
