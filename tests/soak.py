"""`python -m tests.soak MINUTES`: the seeded random tests, again and again with other seeds.

A third of the time goes to the property tests, a new seed each round, the rest to fresh histories
of the simulation: in memory, on SQLite, and at two paces against each other. It stops at the first
failure and prints the command that repeats it; a seed that failed once belongs into the tests for good.
"""

import random
import subprocess
import sys
import time
from pathlib import Path

SIMULATION = Path("tests/simulation/test_simulation.py")
PROPERTY_SHARE = 1 / 3


def main(minutes: float) -> int:
    """Run for so many minutes of wall time; pytest's exit code, 0 when nothing failed."""
    until = time.monotonic() + 60 * minutes * (PROPERTY_SHARE if SIMULATION.is_file() else 1)
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        rounds += 1
        seed = random.randrange(2**32)
        print(f"round {rounds}, seed {seed}", flush=True)
        if code := _pytest("-m", "hypothesis and not postgres", f"--hypothesis-seed={seed}"):
            return code
    if SIMULATION.is_file():
        left = max(1, round(minutes * (1 - PROPERTY_SHARE)))
        return _pytest(str(SIMULATION), f"--soak-minutes={left}", "--timeout=0")
    return 0


def _pytest(*arguments: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-x", *arguments]
    code = subprocess.run(command, check=False).returncode
    if code:
        print(f"failed; to repeat it: {' '.join(command)}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
