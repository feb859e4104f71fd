"""`tidegate docs`: every page is listed and printed as it is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidegate.cli.main import application
from tidegate.domain.error import UserError

DOCS = Path(__file__).parents[4] / "docs"


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(application, ["docs", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(page: str) -> UserError:
    result = CliRunner().invoke(application, ["docs", page])
    assert isinstance(result.exception, UserError)
    return result.exception


def test_every_page_is_listed_with_its_title() -> None:
    listed = {
        line.split()[0]: line.split(maxsplit=1)[1].strip() for line in printed().splitlines() if " " in line
    }

    for page in DOCS.glob("*.md"):
        assert listed[page.stem] == page.read_text().splitlines()[0].removeprefix("# ")


def test_a_pipe_gets_the_page_as_it_is() -> None:
    assert printed("language") == (DOCS / "language.md").read_text()


@pytest.mark.parametrize("name", ["docs/language.md", "language.md", "langu"])
def test_a_page_is_found_by_its_path_and_by_its_beginning(name: str) -> None:
    assert printed(name) == (DOCS / "language.md").read_text()


def test_a_decision_record_is_found_by_its_number() -> None:
    assert printed("adr/0022").startswith("# 22. ")


@pytest.mark.parametrize(
    ("page", "hint"), [("langauge", "language"), ("adr/00", " or "), ("no such thing", "tidegate docs")]
)
def test_an_unknown_page_is_refused_with_the_nearest(page: str, hint: str) -> None:
    assert hint in (refused(page).hint or "")
