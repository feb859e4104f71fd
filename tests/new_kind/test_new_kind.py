"""A new kind of trigger is one file on each side, its struct, and a line in each registry.

`added/` holds the three files and `lines.patch` all that changes in files that exist. Both go into a copy
of the package, and a schedule with that kind is taken through everything that meets a trigger. Nothing
that the patch does not show may have to change.
"""

from pathlib import Path

import pytest

from tests.new_kind.copied import HERE, add, added_lines, copied, printed_by

pytestmark = pytest.mark.endurance  # a process, in which the whole package is imported

SIDES = ("domain/model/triggers", "compiler/triggers", "scheduler/decision/triggers")
LINES_IN_REGISTRIES = 7
"""In Python: an import and an entry in each of three registries, and the struct for the engine's entry."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that has the new kind."""
    folder = copied(tmp_path_factory.mktemp("copy"), "lines.patch")
    for side in SIDES:
        add(folder, side, "streak.py", f"{side.replace('/', '_')}.txt")
    return folder


@pytest.fixture(scope="module")
def story(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The project of the story, once it was played, and what the commands have printed."""
    project = tmp_path_factory.mktemp("story")
    return project, printed_by(copy, "story", "play", str(project))


def test_files_that_exist_get_a_line_in_each_registry_and_an_entry_in_the_schema() -> None:
    added = added_lines("lines.patch")
    assert sorted(added) == [
        "tidegate/compiler/schema/app.schema.json",
        "tidegate/compiler/triggers/__init__.py",
        "tidegate/domain/model/triggers/tree.py",
        "tidegate/scheduler/decision/triggers/tree.py",
    ]
    in_python = [line for path, lines in added.items() if path.endswith(".py") for line in lines]
    assert len(in_python) == LINES_IN_REGISTRIES
    lines = (HERE / "lines.patch").read_text("utf-8").split("\n")
    assert not [line for line in lines if line[:1] == "-" and line[:3] != "---"]


def test_a_schedule_of_the_new_kind_goes_from_lint_to_its_launch(story: tuple[Path, str]) -> None:
    _, found = story

    assert "ok: 1 app, 3 schedules" in found
    assert "trigger.length: 2 -> 3" in found
    assert "3 days in a row of orders" in found
    assert "2 of 3 days in a row of orders" in found
    assert "a day of orders beside those that have come" in found
    assert "PENDING_LAUNCH" in found
    assert "~ dataset sales/sold (renamed from sales/orders" in found
    assert "Schedules: no changes." in found
    assert "error[L401]: schedules must not trigger each other in a cycle" in found
    assert "error[N301]" in found


@pytest.mark.dagster
def test_dagster_shows_a_schedule_of_the_new_kind(copy: Path, story: tuple[Path, str]) -> None:
    project, _ = story

    assert "tidegate_dispatcher" in printed_by(copy, "story", "define", str(project))
