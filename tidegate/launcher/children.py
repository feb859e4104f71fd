"""The forks of a process: their start, their ends, and a file descriptor that awakes when one ends."""

import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import invalidate_caches
from typing import NamedTuple

from tidegate.launcher.warm.process_state import seed

FAILED = 70
"""Exit status of a child whose work has failed."""

WAIT_SECONDS = 0.1


class Ended(NamedTuple):
    """A child that has ended. `status` is negative for a signal."""

    pid: int
    status: int


def ended_text(ended: Ended) -> str:
    """Say how a process has ended."""
    if ended.status >= 0:
        return f"its process {ended.pid} ended with status {ended.status}"
    try:
        name = signal.Signals(-ended.status).name
    except ValueError:
        name = f"signal {-ended.status}"
    return f"its process {ended.pid} was ended by {name}"


class Children:
    """The forks of this process that have not been seen to end.

    Attributes:
        awake: readable after a child has ended, or a signal has come.
    """

    def __init__(self) -> None:
        self._alive: set[int] = set()
        self.awake, self._waker = socket.socketpair()
        for end in (self.awake, self._waker):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)

    @property
    def alive(self) -> int:
        """How many children have not been seen to end."""
        return len(self._alive)

    def fork(self, work: Callable[[], bool]) -> int:
        """Let a child do some work, and return its process id.

        Args:
            work: its result, or its failure, is the child's exit status.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._become_child(work)
        self._alive.add(pid)
        return pid

    def ended(self) -> Iterator[Ended]:
        """Yield the children that have ended since."""
        with suppress(BlockingIOError):
            while self.awake.recv(4096):
                pass
        for pid in list(self._alive):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self._alive.discard(pid)
                yield Ended(pid, os.waitstatus_to_exitcode(status))

    def wait(self) -> None:
        """Wait a moment for a child to end."""
        select.select([self.awake], [], [], WAIT_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all children."""
        for pid in self._alive:
            os.kill(pid, number)

    def _become_child(self, work: Callable[[], bool]) -> None:
        """Do the work in a session of its own, and end the process: nothing of the server's goes on."""
        status = FAILED
        try:
            self._alone()
            status = 0 if work() else FAILED
            _join_threads()
        except BaseException:  # noqa: BLE001 -- the process ends here, and its log has the cause
            traceback.print_exc()
        finally:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _alone(self) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        self.awake.close()
        self._waker.close()
        self._alive.clear()
        seed()
        invalidate_caches()


def _join_threads() -> None:
    """Wait for the threads that Python itself waits for."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
