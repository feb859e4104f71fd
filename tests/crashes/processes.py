"""Processes that tests fork, so that a kill is a real one: no clean-up, no exception.

Fork them where the test has no connection open that they would close.
"""

import os
import signal
import traceback
from collections.abc import Callable

SIGKILL = -signal.SIGKILL
"""The exit code of a process that was killed."""

FAILED = 1
"""The exit code of a process whose work has raised an exception, which it has printed."""

Work = Callable[[], object]


def fork(work: Work) -> int:
    """Start a process that does some work and ends. Return its id."""
    child = os.fork()
    if child:
        return child
    code = FAILED
    try:
        work()
        code = 0
    except BaseException:  # noqa: BLE001 -- printed, and reported to the parent by the exit code
        traceback.print_exc()
    finally:
        os._exit(code)


def end(child: int) -> int:
    """Wait for a process. Return its exit code, negative for the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work: Work) -> int:
    """Do some work in a process of its own, and wait. Return its exit code."""
    return end(fork(work))


def in_children(*works: Work, meanwhile: Work = lambda: None) -> list[int]:
    """Do each work in a process of its own, all at once; `meanwhile` is called again and again here."""
    children = [fork(work) for work in works]
    codes: dict[int, int] = {}
    while len(codes) < len(children):
        meanwhile()
        for child in children:
            if child not in codes:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    codes[child] = os.waitstatus_to_exitcode(status)
    return [codes[child] for child in children]


def kill_self() -> None:
    """Die as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)
