"""The reaper: a process that ends what another one has started, once that one has ended in whatever way.

    parent ──starts──► reaper                 waits for the end of a pipe, which only the parent holds
       └─────starts──► processes ──► theirs   each has the parent's mark in its environment

A parent that stops its processes itself says so, and the reaper looks for what is left: children of children
that no group of processes has. After a SIGKILL of the parent it ends all of them, SIGTERM first.

The reaper is this file, run without any package, so that it needs milliseconds and little memory. It reads
the process table of Linux; on other systems it finds nothing, and what is killed leaves its processes.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

STARTED_BY = "TIDEGATE_STARTED_BY"
"""The variable with the mark of the parent, which its processes leave to theirs."""

PROCESSES = Path("/proc")

GRACE_SECONDS = 12
"""Time between SIGTERM and SIGKILL: a run server takes up to ten seconds to report its runs."""

KILL_SECONDS = 5
"""The kernel ends what is killed at once, unless it waits for a disk."""

POLL_SECONDS = 0.1


class Reaper:
    """The reaper of the processes that have a mark."""

    def __init__(self, mark: str) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, mark],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # It must not be ended by what ends its parent: Ctrl-C, or the end of the terminal.
            start_new_session=True,
        )

    def finish(self) -> None:
        """Let it end what is left, and wait for its end."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._popen.communicate(b"\n", GRACE_SECONDS + 2 * KILL_SECONDS)


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment that a process got at its start; nothing of one that is gone, or of others."""
    try:
        content = (PROCESSES / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    pairs = (part.partition("=") for part in content.decode(errors="replace").split("\0"))
    return {name: value for name, _, value in pairs}


def all_processes() -> Iterator[int]:
    """Yield the process ids of this machine; none where there is no process table to read."""
    with contextlib.suppress(OSError):
        yield from (int(each.name) for each in PROCESSES.iterdir() if each.name.isdigit())


def marked(mark: str) -> set[int]:
    """Return the living processes that have a mark."""
    return {pid for pid in all_processes() if environment_of(pid).get(STARTED_BY) == mark}


def reap(mark: str) -> None:
    """End all processes that have a mark."""
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        deadline, known = monotonic() + seconds, set[int]()
        while (found := marked(mark)) and monotonic() < deadline:
            for pid in found - known:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            known |= found
            sleep(POLL_SECONDS)


if __name__ == "__main__":
    sys.stdin.buffer.read(1)
    reap(sys.argv[1])
