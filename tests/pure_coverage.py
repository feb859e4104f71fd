"""`make coverage`: every line and branch of the pure modules is run by a fast test with fixed examples.

Pure is what `tests.tidy.purity` says: the ground floor, the compiler, and the engine without its store.
Code that no test can reach is removed, not excluded; pyproject.toml excludes only what a type checker proves.
`make test` plays these tests untraced; traced they take several minutes, so this is a part of the soak.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tidy.purity import IMPURE, PURE
from tests.tiers import FAST

ROOT = Path(__file__).parent.parent

FOLDERS = ("tests/domain", "tests/compiler", "tests/golden", "tests/hostile", "tests/scheduler")
FIXED = f"{FAST} and not hypothesis"
"""Without those that draw examples: what is covered must not be a matter of chance."""


def main() -> int:
    """Run the tests traced and print what they miss; return 0 if they pass and miss nothing."""
    sources = ",".join(folder.rstrip("/") for folder in PURE)
    omitted = ",".join(f"{folder}*" for folder in IMPURE)
    with tempfile.TemporaryDirectory() as folder:
        data = f"--data-file={folder}/coverage"
        tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", FIXED, *FOLDERS)
        ran = _coverage("run", "--branch", data, f"--source={sources}", f"--omit={omitted}", *tests)
        missed = _coverage("report", data, "--show-missing", "--skip-covered", "--fail-under=100")
    return ran or missed


def _coverage(*arguments: str) -> int:
    # Tests of the soak count as well.
    environment = {**os.environ, "TESTS_EFFORT": "2"}
    command = [sys.executable, "-m", "coverage", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
