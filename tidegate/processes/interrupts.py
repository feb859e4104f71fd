"""Signals that end a process: SIGTERM, Ctrl-C, and the end of its terminal.

Processes of Dagster end on SIGTERM, also where a script has started this one in the background. One that was
started with `nohup` ignores the end of its terminal, and goes on ignoring it.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end this process."""
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hangs_up else ()))


def end_on_signals(end: Callable[[], None]) -> None:
    """Call a function at each signal that ends this process."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        end()

    for number in ending_signals():
        signal.signal(number, handle)


@contextlib.contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Start processes that do not ignore SIGINT.

    What a shell script starts in the background ignores it, and so do the processes that it starts in turn.
    Those of Dagster handle SIGTERM as they handle SIGINT, and would have to be killed.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
