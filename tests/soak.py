"""`python -m tests.soak`: coverage, the endurance tests with many more seeds, then fresh seeds.

The pure modules must be covered (`tests.pure_coverage`). The endurance tests run once, with `--effort`
times the seeds, histories and kills of `make test`, and all tests once with the newest Spark 4 (0 leaves all
of that out). Then, for `--minutes`, a third of
the time goes to the property tests, with a new seed each round, the rest to fresh histories of the
simulation: in memory, on SQLite, and at two paces against each other. It stops at the first failure and
prints the command that repeats it; a seed that failed once is kept in the tests for good.
"""

import argparse
import os
import random
import subprocess
import sys
import time

from tests import pure_coverage

SIMULATION = "tests/simulation/test_simulation.py"
PROPERTY_SHARE = 1 / 3
EFFORT_OF_A_SOAK = 5


def main(effort: float, minutes: float) -> int:
    """Run everything; return pytest's exit code, 0 when nothing failed."""
    if effort and (code := pure_coverage.main()):
        return code
    spread = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")
    if effort and (code := _pytest("-m", "endurance or soak", "--timeout=0", *spread, effort=effort)):
        return code
    # In an environment of its own, which has no Iceberg.
    if effort and (code := subprocess.run(["make", "every", "SPARK=4"], check=False).returncode):
        return code
    until = time.monotonic() + 60 * minutes * PROPERTY_SHARE
    while time.monotonic() < until:
        seed = random.randrange(2**32)
        if code := _pytest("-m", "hypothesis and not store", f"--hypothesis-seed={seed}"):
            return code
    return _pytest(SIMULATION, f"--soak-minutes={minutes * (1 - PROPERTY_SHARE)}", "--timeout=0")


def _pytest(*arguments: str, effort: float = 1) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-x", *arguments]
    environment = {**os.environ, "TESTS_EFFORT": f"{effort:g}"}
    code = subprocess.run(command, check=False, env=environment).returncode
    if code:
        print(f"failed; to repeat it: TESTS_EFFORT={effort:g} {' '.join(command)}", flush=True)
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Repeat the seeded random tests with more seeds.")
    parser.add_argument("--effort", type=float, default=EFFORT_OF_A_SOAK, help="times the seeds of make test")
    parser.add_argument("--minutes", type=float, default=10, help="how long to play fresh seeds")
    given = parser.parse_args()
    sys.exit(main(given.effort, given.minutes))
