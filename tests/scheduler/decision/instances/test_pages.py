"""The tables of docs/cycles.md are those of the code."""

import re
from pathlib import Path

from tidegate.domain.tasks.select import LOOKS_BACK, MATRIX
from tidegate.scheduler.decision.instances.actions import ALLOWED, Action
from tidegate.scheduler.model.instance import Status

PAGE = (Path(__file__).parents[4] / "docs/cycles.md").read_text("utf-8")


def rows(first: str) -> dict[str, list[str]]:
    """The cells of the table whose head begins with these words, by the first cell of each row."""
    lines = PAGE[PAGE.index(first) :].splitlines()
    found: dict[str, list[str]] = {}
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip().strip("*") for cell in line.strip("|").split("|"))
        found[name] = cells
    return found


def test_the_table_of_actions_is_the_one_of_the_code() -> None:
    statuses = [
        Status.NOT_RUN,
        Status.WAITING,
        Status.RUNNING,
        Status.SUCCESSFUL,
        Status.FAILED,
        Status.PAUSED,
    ]
    table = rows("| | Not Run | Waiting |")
    written = {
        name: {status for status, cell in zip(statuses, cells, strict=True) if cell.startswith("yes")}
        for name, cells in table.items()
    }
    assert written == {str(action).replace("_", " "): set(ALLOWED[action]) for action in Action}


def test_the_nine_cells_are_those_of_the_code() -> None:
    sizes = ("minute", "hour", "day")
    for current, (name, cells) in zip(sizes, rows("| current \\ upstream").items(), strict=True):
        assert name.startswith(current)
        for upstream, cell in zip(sizes, cells, strict=True):
            unit, rule = MATRIX[current, upstream]
            assert re.match(f"same {unit}: {rule.replace('_', ' ')}", cell), cell
            assert ("not later" in cell) <= (rule in LOOKS_BACK)
