"""A real process that can be killed: forked, with a pipe on which it says how far it is."""

import os
import signal
import traceback
from collections.abc import Callable

Say = Callable[[], None]
"""Called by the child after each thing that it has done."""


class Child:
    """A forked process at work.

    Args:
        work: what it does; it is given `say`. Its exit code is 0 when it returns.
    """

    def __init__(self, work: Callable[[Say], object]) -> None:
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(write)
            return
        os.close(self._read)
        code = 1
        try:
            work(lambda: _tell(write))
            code = 0
        except Exception:  # noqa: BLE001 - printed, and told to the parent by the exit code
            traceback.print_exc()
        finally:
            os._exit(code)

    def heard(self, times: int) -> bool:
        """Wait until the child has said so many things; False if it ended before that."""
        return all(os.read(self._read, 1) for _ in range(times))

    def kill(self) -> bool:
        """End it as by a power cut: no clean-up, no exception. Returns whether it was still alive."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait() == -signal.SIGKILL

    def wait(self) -> int:
        """Its exit code, negative for the signal that ended it."""
        while os.read(self._read, 4096):
            pass
        os.close(self._read)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _tell(pipe: int) -> None:
    # A parent that has died reads no more; then there is nobody to work for.
    os.write(pipe, b".")
