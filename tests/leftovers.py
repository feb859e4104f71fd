"""No test leaves a process behind: every process of a run inherits a mark in its environment.

`begin` sets the mark before the workers start; `end`, when they have ended, looks for it in the
environments of all processes, ends what it finds, and says what that was. A process may take a moment
to end by itself, as a JVM does whose driver has gone.
"""

import os
import signal
import time
import uuid
from contextlib import suppress
from pathlib import Path

VARIABLE = "TIDEGATE_TEST_RUN"
PATIENCE_SECONDS = 20
LOG_CAPTURE = ("tail -F", "watch_orphans", "poll_compute_logs")
"""Dagster's helpers that copy a run's output outlive a run that a test kills: ended, and no fault."""

PROCESSES = Path("/proc")
"""Where there is no such folder, as on macOS, nothing is looked for."""


def begin() -> None:
    """Mark this process's environment, which all that it starts inherit."""
    os.environ[VARIABLE] = uuid.uuid4().hex


def end(patience_seconds: float = PATIENCE_SECONDS) -> list[str]:
    """End what is left of this run, and return the command lines, without those of `LOG_CAPTURE`."""
    until = time.monotonic() + patience_seconds
    while (left := _marked()) and time.monotonic() < until:
        time.sleep(0.2)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [
        f"{pid} {command}"
        for pid, command in left.items()
        if not any(words in command for words in LOG_CAPTURE)
    ]


def _marked() -> dict[int, str]:
    """The living processes with our mark, by id; without this one, and without zombies."""
    mark = f"{VARIABLE}={os.environ[VARIABLE]}".encode()
    found: dict[int, str] = {}
    for folder in PROCESSES.glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) != os.getpid() and mark in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(folder.name)] = command.strip()[:200]
    return found
