"""The name of a process that has ended."""

import subprocess
import sys
from functools import cache

DEAD = "dead"
"""Names a dead process in lists of cases: every worker loads them, and few need such a process."""


def of_a_dead_process() -> str:
    """Return the name that a process has given itself, once it has ended."""
    code = "from tidegate.spark_jobs.commit.process import this_process; print(this_process())"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@cache
def process_of(name: str) -> str:
    """Return the name of a process that a case means: of one that has ended, if it says `DEAD`."""
    return of_a_dead_process() if name == DEAD else name
