"""Every line and every branch of the pure modules is run by a fast test with fixed examples.

Pure is what `tests.tidy.purity` says: the ground floor, the compiler, and the engine without its store.
Code that no test can reach is removed, not excluded; pyproject.toml excludes only what a type checker proves.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.purity import IMPURE, PURE
from tests.traced import FIXED, FOLDERS

ROOT = Path(__file__).parent.parent
SECONDS = 1500
"""A traced run that takes longer fails."""


def coverage(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A coverage command, with all it has printed."""
    return subprocess.run(
        [sys.executable, "-m", "coverage", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.endurance  # runs the fast tests of the pure packages, traced: two minutes
def test_the_pure_modules_are_covered_branch_by_branch(tmp_path: Path) -> None:
    data = f"--data-file={tmp_path / 'coverage'}"
    sources = ",".join(folder.rstrip("/") for folder in PURE)
    omitted = ",".join(f"{folder}*" for folder in IMPURE)

    run = coverage(
        "run", "--branch", data, f"--source={sources}", f"--omit={omitted}",
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", FIXED, *FOLDERS,
    )  # fmt: skip
    report = coverage("report", data, "--show-missing", "--skip-covered", "--fail-under=100")

    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert report.returncode == 0, "\n" + report.stdout + report.stderr
