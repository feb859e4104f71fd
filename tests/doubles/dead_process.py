"""The name of a process that has ended."""

import subprocess
import sys


def of_a_dead_process() -> str:
    """Return the name that a process has given itself, once it has ended."""
    code = "from tidegate.spark_jobs.commit.process import this_process; print(this_process())"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
