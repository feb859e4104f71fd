"""Bugs that are planted on purpose: the simulator must find every one of them, or it proves nothing.

Each patch in `planted/` changes the engine a little. It is applied to a copy, and random histories
are played on that in a process of its own. A patch that no longer applies fails the test: the code has
moved on, and the patch must follow. The first test shows that the copy without a bug is fine.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import some
from tests.simulation.patch import apply_patch
from tests.tally import reach

pytestmark = pytest.mark.endurance  # a process for each bug

PROJECT = Path(__file__).parents[2]
PLANTED = Path(__file__).parent / "planted"
TASK_PATCHES = sorted(PLANTED.glob("task_*.patch"))
OPERATION_PATCHES = sorted(PLANTED.glob("operation_*.patch"))
PATCHES = sorted({*PLANTED.glob("*.patch")} - {*TASK_PATCHES, *OPERATION_PATCHES})
HISTORIES = dict.fromkeys(TASK_PATCHES, "tasks") | dict.fromkeys(OPERATION_PATCHES, "maintenance")
"""What has to be played to find a bug, if not schedules."""
PLAYED = ("tidegate", "tests/simulation")
SECONDS = 90
"""A bug that is not found for so long is not found. Most are within two seconds."""


def copied(folder: Path) -> Path:
    """A copy of the engine, and of what simulates it."""
    for part in PLAYED:
        shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def hunt(folder: Path, seconds: float, *what: str) -> subprocess.CompletedProcess[str]:
    """Play histories on a copy."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation.hunt", str(seconds), *what],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=5 * SECONDS,
    )


def test_the_copy_as_it_is_has_none(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for found in (hunt(folder, 2), hunt(folder, 2, "tasks"), hunt(folder, 2, "maintenance")):
        assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    "patch",
    [*some(PATCHES, 4), *some(TASK_PATCHES, 2), *some(OPERATION_PATCHES, 1)],
    ids=lambda patch: patch.stem,
)
def test_a_planted_bug_is_found(patch: Path, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    apply_patch(patch.read_text(), folder)

    found = hunt(folder, SECONDS, *([HISTORIES[patch]] if patch in HISTORIES else []))

    assert found.returncode == 1, f"not found: {found.stdout}{found.stderr}"
    assert "history " in found.stdout, f"it fell over before it played anything: {found.stderr}"
    reach("planted bugs found")
