"""Processes that hang while they hold a lock: they are stopped, as by a suspended machine or a debugger."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STOP = "print('held', flush=True); import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"

LOCKS_A_FILE = f"""
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
{STOP}
"""

WRITES_TO_A_STORE = f"""
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
{STOP}
"""


@contextmanager
def stopped(program: str, file: Path) -> Iterator[int]:
    """The id of a process that was stopped while it holds the lock of a file."""
    process = subprocess.Popen([sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "held\n"
        os.waitpid(process.pid, os.WUNTRACED)
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
