"""A copy of the package with a kind that the project does not have, and the stories that are played in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.simulation.patch import apply_patch

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
PARTS = ("tidegate", "tests/new_kind", "tests/tidegate")


def copied(folder: Path, patch: str) -> Path:
    """Return a folder with a copy of the package, to whose files a patch is applied.

    What Python has compiled comes with it, and stays valid where a file keeps its time and size.
    """
    for part in PARTS:
        shutil.copytree(PROJECT / part, folder / part)
    apply_patch((HERE / patch).read_text("utf-8"), folder)
    return folder


def add(folder: Path, room: str, name: str, text: str) -> None:
    """Add a file of `added/` to a folder of the copied package, which may be new."""
    package = folder / "tidegate" / room
    if not package.is_dir():
        package.mkdir()
        (package / "__init__.py").touch()
    shutil.copy(HERE / "added" / text, package / name)


def printed_by(folder: Path, story: str, *arguments: str) -> str:
    """Return what a story prints, played on the copy."""
    found = subprocess.run(
        [sys.executable, "-m", f"tests.new_kind.{story}", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def added_lines(patch: str) -> dict[str, list[str]]:
    """Return the lines that a patch adds, by file."""
    parts = (HERE / patch).read_text("utf-8").split("+++ b/")[1:]
    lines = {part.split("\n")[0]: part.split("\n")[1:] for part in parts}
    return {path: [line for line in part if line[:1] == "+"] for path, part in lines.items()}
