"""A real process that can be killed: forked, with a pipe on which it says how far it is."""

import os
import signal
from collections.abc import Callable

from tests.crashes.processes import SIGKILL, end, fork

Say = Callable[[], None]
"""Called by the child after each thing that it has done."""


class Child:
    """A forked process at work.

    Args:
        work: what it does; it is given `say`. Its exit code is 0 when it returns.
    """

    def __init__(self, work: Callable[[Say], object]) -> None:
        self._read, write = os.pipe()

        def working() -> None:
            os.close(self._read)
            work(lambda: _tell(write))

        self.pid = fork(working)
        os.close(write)

    def heard(self, times: int) -> bool:
        """Wait until the child has said so many things; False if it ended before that."""
        return all(os.read(self._read, 1) for _ in range(times))

    def kill(self) -> bool:
        """End it as by a power cut: no clean-up, no exception. Returns whether it was still alive."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait() == SIGKILL

    def wait(self) -> int:
        """Its exit code, negative for the signal that ended it."""
        while os.read(self._read, 4096):
            pass
        os.close(self._read)
        return end(self.pid)


def _tell(pipe: int) -> None:
    # A parent that has died reads no more; then there is no work left.
    os.write(pipe, b".")
