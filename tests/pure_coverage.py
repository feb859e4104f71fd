"""`make coverage`: every line and branch of the pure modules is run by a cheap test with fixed examples.

Pure is what `tests.tidy.purity` says: the ground floor, the compiler, and the engine without its store.
Code that no test can reach is removed, not excluded; pyproject.toml excludes only what a type checker proves.
`make test` plays these tests untraced; traced they take ten minutes on two cores: a part of the soak.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tidy.purity import IMPURE, PURE

ROOT = Path(__file__).parent.parent

GROUPS = (
    ("tests/domain", "tests/compiler", "tests/golden", "tests/hostile", "tests/scheduler"),
    ("tests/tidegate", "tests/server", "tests/alerts", "tests/watcher"),  # what people see, by its commands
)
"""Folders of tests; each group runs in a process of its own, beside the others."""

FIXED = " and ".join(f"not {mark}" for mark in ("spark", "dagster", "endurance", "hypothesis"))
"""Without those that draw examples: what is covered must not be a matter of chance."""


def main() -> int:
    """Run the tests traced and print what they miss; return 0 if they pass and miss nothing."""
    sources = ",".join(folder.rstrip("/") for folder in PURE)
    omitted = ",".join(f"{folder}*" for folder in IMPURE)
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", FIXED)
    with tempfile.TemporaryDirectory() as folder:
        data = [f"{folder}/coverage.{number}" for number in range(len(GROUPS))]
        running = [
            _coverage(
                "run",
                "--branch",
                f"--data-file={file}",
                f"--source={sources}",
                f"--omit={omitted}",
                *tests,
                *group,
            )
            for file, group in zip(data, GROUPS, strict=True)
        ]
        failed = [process.wait() for process in running]
        whole = f"--data-file={folder}/coverage"
        failed.append(_coverage("combine", "-q", whole, *data).wait())
        failed.append(
            _coverage("report", whole, "--show-missing", "--skip-covered", "--fail-under=100").wait()
        )
    return max(failed)


def _coverage(*arguments: str) -> subprocess.Popen[bytes]:
    # Tests of the soak count as well.
    environment = {**os.environ, "TESTS_EFFORT": "2"}
    return subprocess.Popen([sys.executable, "-m", "coverage", *arguments], cwd=ROOT, env=environment)


if __name__ == "__main__":
    sys.exit(main())
