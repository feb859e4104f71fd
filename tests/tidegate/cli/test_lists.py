"""Every command that prints a list prints it also as lines with tabs, and whole with `--wide`."""

import json

import pytest
from typer.testing import CliRunner

from tests.tidegate.cli.test_json import LISTS, filled
from tests.tidegate.cli.walk import Path
from tests.tidegate.project import Project
from tidegate.cli import main as frame

pytestmark = pytest.mark.slow  # whole commands

__all__ = ["filled"]

NONE_OF_ITEMS = {("docs", "concepts"), ("explain", "W-TRIGGER")}
DOCUMENTS = {("lint",), ("plan",), ("diff",), ("maintenance", "plan"), ("watch",), ("status",), ("doctor",)}
"""Reports whose JSON is an array, or of several lists, and no list of items."""


def is_list(path: Path, project: Project) -> bool:
    found = project.json(*path, exit_code=LISTS[path])
    return isinstance(found, list)


@pytest.mark.parametrize("path", sorted(LISTS.keys() - NONE_OF_ITEMS - DOCUMENTS), ids=" ".join)
@pytest.mark.parametrize("columns", ["40", "80", "200", ""])
def test_a_list_has_all_forms(
    filled: Project, monkeypatch: pytest.MonkeyPatch, path: Path, columns: str
) -> None:
    if not is_list(path, filled):
        return
    monkeypatch.setenv("COLUMNS", columns)
    items = json.loads(CliRunner().invoke(frame.application, [*path, "--format", "json"]).stdout)
    shown = filled.run(*path), filled.run(*path, "--wide")
    assert all(text.strip() for text in shown)
    head, *rows = filled.run(*path, "--format", "tsv").removesuffix("\n").split("\n")
    assert len(rows) == len(items)
    assert {row.count("\t") for row in rows} <= {head.count("\t")}
    for item in items:
        assert item.keys() <= set(head.split("\t"))


@pytest.mark.parametrize("path", [("token", "list"), ("jobs", "list"), ("alerts", "list")], ids=" ".join)
def test_a_list_without_items_names_its_columns(deployed: Project, path: Path) -> None:
    (head,) = deployed.run(*path, "--format", "tsv").splitlines()
    assert len(head.split("\t")) > 5
