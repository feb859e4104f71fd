"""Bugs that are planted on purpose: the simulator must find every one of them, or it proves nothing.

Each patch in `planted/` changes the engine a little. It is applied to a copy, random histories are played on
that in a process of its own, and the change is undone. A patch that no longer applies fails the test: the
code has moved on, and the patch must follow. The first test shows that the copy without a bug is fine.

A patch can name the history that finds its bug soonest, and each patch of tasks does: `# changes 17 40` is
seed 17 of changing tasks, with 40 steps. It is played first; where the dice fall in another way by now,
others follow.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
RETENTION_PATCHES = sorted(PLANTED.glob("retention_*.patch"))
PEOPLE_PATCHES = sorted(PLANTED.glob("people_*.patch"))
DATES_PATCHES = sorted(PLANTED.glob("dates_*.patch"))
REPAIR_PATCHES = sorted(PLANTED.glob("repairs_*.patch"))
PATCHES = sorted(
    {*PLANTED.glob("*.patch")}
    - {*TASK_PATCHES, *OPERATION_PATCHES, *RETENTION_PATCHES}
    - {*PEOPLE_PATCHES, *DATES_PATCHES, *REPAIR_PATCHES}
)
CHANGED = re.compile(r"^--- a/(\S+)", re.MULTILINE)
FINDS = re.compile(
    r"^# (tasks|changes|landed|schedules|maintenance|retention|people|dates|repairs) (\d+) (\d+)$",
    re.MULTILINE,
)
PLAYED = ("tidegate", "tests/simulation", "tests/doubles")
SECONDS = 90
"""A bug that is not found for so long is not found. Most are within two seconds."""

SECONDS_WITHOUT = 0.1
"""How long each kind of history is played on the copy without a bug, but one at least; all other tests play
them there, too."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the engine, and of what simulates it; with its bytecode, since imports take most time."""
    copied = tmp_path_factory.mktemp("planted")
    for part in PLAYED:
        shutil.copytree(PROJECT / part, copied / part)
    return copied


@contextmanager
def planted(patch: str, folder: Path) -> Iterator[None]:
    """The copy has the bug meanwhile."""
    names = CHANGED.findall(patch)
    kept = {name: (folder / name).read_bytes() for name in names}
    times = {name: (folder / name).stat() for name in names}
    apply_patch(patch, folder)
    try:
        yield
    finally:
        for name in names:
            (folder / name).write_bytes(kept[name])
            # Its bytecode is valid again.
            os.utime(folder / name, ns=(times[name].st_atime_ns, times[name].st_mtime_ns))


def histories(patch: Path) -> tuple[str, ...]:
    """What has to be played to find a bug; schedules where nothing is said."""
    named = FINDS.search(patch.read_text())
    if named is not None:
        return named.groups()
    if patch in RETENTION_PATCHES:
        return ("retention",)
    if patch in PEOPLE_PATCHES:
        return ("people",)
    if patch in DATES_PATCHES:
        return ("dates",)
    if patch in REPAIR_PATCHES:
        return ("repairs",)
    return ("maintenance",) if patch in OPERATION_PATCHES else ()


def hunt(folder: Path, seconds: float, *what: str) -> subprocess.CompletedProcess[str]:
    """Play histories on a copy."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation.hunt", str(seconds), *what],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=5 * SECONDS,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_the_copy_as_it_is_has_none(folder: Path) -> None:
    kinds = (
        "schedules",
        "tasks",
        "changes",
        "landed",
        "maintenance",
        "retention",
        "people",
        "dates",
        "repairs",
    )
    found = hunt(folder, SECONDS_WITHOUT, *kinds)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("histories, and nothing was found") == len(kinds)


@pytest.mark.parametrize(
    "patch",
    [
        *some(PATCHES, 3),
        *some(TASK_PATCHES, 4),
        *some(OPERATION_PATCHES, 1),
        *some(RETENTION_PATCHES, 1),
        *some(PEOPLE_PATCHES, 1),
        *some(DATES_PATCHES, 1),
        *some(REPAIR_PATCHES, 2),
    ],
    ids=lambda patch: patch.stem,
)
def test_a_planted_bug_is_found(patch: Path, folder: Path) -> None:
    with planted(patch.read_text(), folder):
        found = hunt(folder, SECONDS, *histories(patch))

    assert found.returncode == 1, f"not found: {found.stdout}{found.stderr}"
    assert "history " in found.stdout, f"it fell over before it played anything: {found.stderr}"
    assert patch not in TASK_PATCHES or FINDS.search(patch.read_text()), "the patch names no history"
    reach("planted bugs found")
