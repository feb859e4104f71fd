"""Processes of Dagster end on SIGTERM, also where a script has started this one in the background."""

import contextlib
import signal
import threading
from collections.abc import Iterator


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
