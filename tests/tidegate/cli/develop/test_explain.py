"""`tidegate explain`: one registry for every code, and the pages that are rendered from it."""

import re
from pathlib import Path

import pytest

from tests.tidegate.project import Project
from tests.tidy.codes import DIAGNOSTIC, REASON
from tidegate.project.rendered_pages import reasons_markdown
from tidegate.scheduler.explain.codes import registry

ROOT = Path(__file__).parents[4]

CODE = re.compile(f"{DIAGNOSTIC.pattern}|{REASON.pattern}")
"""What the source has in quotes is a code, except for the letters alone."""


def test_every_code_that_the_source_has_is_in_the_registry() -> None:
    written = (
        code
        for file in (ROOT / "tidegate").rglob("*.py")
        for code in re.findall(r'"([A-Z][A-Z0-9-]{3,})"', file.read_text(encoding="utf-8"))
        if CODE.fullmatch(code)
    )

    assert set(written) == set(registry())


def test_every_code_has_a_meaning_a_cause_a_remedy_and_a_heading_that_exists() -> None:
    for each in registry().values():
        assert all((each.meaning, each.cause, each.remedy)), each.code
        assert "](" not in each.cause + each.remedy, each.code
        page, _, anchor = each.page.partition("#")
        headings = re.findall(r"^## (.+)$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE)
        assert anchor in [heading.lower().replace(":", "").replace(" ", "-") for heading in headings]


def test_the_page_of_reasons_is_the_registry() -> None:
    page = (ROOT / "docs/reasons.md").read_text(encoding="utf-8")

    assert page == reasons_markdown(), "`make pages` writes docs/reasons.md again"


@pytest.mark.parametrize(
    ("code", "meaning", "page"),
    [
        ("L401", "L401 (error): cycle of schedules", "docs/diagnostics.md#l-rules-between-parts"),
        ("w-window", "W-WINDOW: the launch window is closed", "docs/reasons.md#w-waiting"),
        ("E-STATE", "E-STATE: the status does not allow it", "docs/reasons.md#e-refused"),
    ],
)
def test_a_code_is_explained_in_either_case_without_a_store(
    project: Project, code: str, meaning: str, page: str
) -> None:
    printed = project.run("explain", code)

    assert printed.startswith(meaning)
    assert page in printed
    found = project.json("explain", code)
    assert (found["code"], f"docs/{found['page']}") == (code.upper(), page)
    assert found["remedy"] in printed


def test_an_unknown_code_ends_with_64_and_names_near_ones(project: Project) -> None:
    assert "did you mean W-WINDOW" in project.run_with_errors("explain", "W-WINDOWS", exit_code=64)
    assert "D-DELAY, D-WINDOW" in project.run_with_errors("explain", "D-", exit_code=64)
    assert "lists all codes" in project.run_with_errors("explain", "???", exit_code=64)


def test_without_a_code_all_are_listed(project: Project) -> None:
    assert [each["code"] for each in project.json("explain")] == list(registry())
    assert "F-LAUNCH" in project.run("explain")
