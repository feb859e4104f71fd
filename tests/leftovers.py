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

from tests.environments import having

VARIABLE = "TIDEGATE_TEST_RUN"
PATIENCE_SECONDS = 20
LOG_CAPTURE = ("tail -F", "watch_orphans", "poll_compute_logs")
"""Dagster's helpers that copy a run's output outlive a run that a test kills: ended, and no fault."""


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
    found = having(VARIABLE, os.environ[VARIABLE])
    return {
        pid: _ends_of(command.replace(b"\0", b" ").decode(errors="replace").strip())
        for pid, command in found.items()
        if pid != os.getpid()
    }


def _ends_of(command: str) -> str:
    """The begin and the end of a command: that of a JVM says at its end whose it is."""
    return command if len(command) <= 400 else f"{command[:100]} … {command[-300:]}"
