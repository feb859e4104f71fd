"""Processes that tests fork, so that a kill is a real one: no clean-up, no exception.

Fork them where the test has no connection open that they would close. None outlives its worker: an orphan
has the worker's end of the pipe to the test run, which would then wait for the worker forever.
"""

import ctypes
import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable

from tests.effort import longer

SIGKILL = -signal.SIGKILL
"""The exit code of a process that was killed."""

FAILED = 1
"""The exit code of a process whose work has raised an exception, which it has printed."""

LONGEST_SECONDS = longer(240)
"""A process that works for longer hangs: it prints where, and fails. Shorter than a test's own timeout."""

PAUSE_SECONDS = 0.005

PR_SET_PDEATHSIG = 1

Work = Callable[[], object]


def fork(work: Work, seconds: float | None = LONGEST_SECONDS) -> int:
    """Start a process that does some work and ends. Return its id.

    Args:
        seconds: how long it may take; None for a process that waits for others.
    """
    child = os.fork()
    if child:
        return child
    code = FAILED
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if seconds is not None:
            faulthandler.dump_traceback_later(seconds, exit=True, file=2)
        work()
        code = 0
    except BaseException:  # noqa: BLE001 -- printed, and reported to the parent by the exit code
        # Not by `sys.stderr`, which pytest replaces and `_exit` does not flush.
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def end(child: int) -> int:
    """Wait for a process. Return its exit code, negative for the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work: Work) -> int:
    """Do some work in a process of its own, and wait. Return its exit code."""
    return end(fork(work))


def in_children(*works: Work, meanwhile: Work = lambda: None) -> list[int]:
    """Do each work in a process of its own, all at once; `meanwhile` is called again and again."""
    children = [fork(work) for work in works]
    codes: dict[int, int] = {}
    while len(codes) < len(children):
        meanwhile()
        # The processes need the machine as well.
        time.sleep(PAUSE_SECONDS)
        for child in children:
            if child not in codes:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    codes[child] = os.waitstatus_to_exitcode(status)
    return [codes[child] for child in children]


def kill_self() -> None:
    """Die as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)
