"""A gate that keeps SQLite connections out of forked processes.

SQLite forbids to carry a connection across a fork: the locks of a file belong to the parent, while the
library's tables in the child say that the child holds them, also for connections that it opens later. So a
fork waits until no other thread uses a connection, closes all of them, and goes on then:

    enter ─► use ─► leave          fork: none enters ─► the last one has left ─► close all ─► fork ─► open

Only `os.fork` is meant. `subprocess` replaces the process at once and needs nothing.
"""

import os
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet

FORK_WAITS_SECONDS = 60
"""How long a fork waits for connections in use: longer than any statement waits for a lock."""


class Closable(Protocol):
    """Connections that can be closed, and open again by themselves."""

    def close(self) -> None:
        """Close every connection that is not in use."""
        ...


class ForkGate:
    """The gate of a process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: Counter[int] = Counter()
        self._forking = False
        self._kept: WeakSet[Closable] = WeakSet()
        os.register_at_fork(before=self._before, after_in_parent=self._after, after_in_child=self._in_child)

    def keep(self, connections: Closable) -> None:
        """Close these before each fork."""
        with self._changed:
            self._kept.add(connections)

    @contextmanager
    def entered(self) -> Generator[None]:
        """Use connections inside; a thread may enter again while it is inside."""
        thread = threading.get_ident()
        with self._changed:
            while self._forking and thread not in self._inside:
                self._changed.wait()
            self._inside[thread] += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[thread] -= 1
                if not self._inside[thread]:
                    del self._inside[thread]
                    if self._forking:
                        self._changed.notify_all()

    def _before(self) -> None:
        # Held until the fork has happened, so that no other thread is in the middle of entering.
        self._changed.acquire()
        self._forking = True
        own = {threading.get_ident()}
        self._changed.wait_for(lambda: self._inside.keys() <= own, FORK_WAITS_SECONDS)
        for connections in list(self._kept):
            connections.close()

    def _after(self) -> None:
        self._forking = False
        self._changed.notify_all()
        self._changed.release()

    def _in_child(self) -> None:
        self._changed = threading.Condition()
        own = threading.get_ident()
        self._inside = Counter({own: self._inside[own]} if own in self._inside else {})
        self._forking = False


GATE = ForkGate()
"""The gate of this process."""
