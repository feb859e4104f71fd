"""Connections to one SQLite file that are kept between statements.

Building an engine costs a hundred times as much as a small statement, and closing the last connection to a
file writes its log back. A file that was replaced or removed is noticed at the next use: the connections to
the old one are closed.

A gate that keeps SQLite connections out of forked processes. SQLite forbids to carry a connection across a
fork: the locks of a file belong to the parent, while the library's tables in the child say that the child
holds them, also for connections that it opens later. So a fork waits until no other thread uses a
connection, closes all of them, and goes on then:

    enter ─► use ─► leave          fork: none enters ─► the last one has left ─► close all ─► fork ─► open

Only `os.fork` is meant. `subprocess` replaces the process at once and needs nothing.
"""

import os
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet

from sqlalchemy import Connection, event
from sqlalchemy.pool import QueuePool

from tidegate.dagster_defs.internals.sqlite_storage import (
    create_db_conn_string,
    create_engine,
)

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


BUSY_SECONDS = 30
"""How long a statement waits for another process that writes; as long as Dagster's own storages wait."""

CONNECTIONS_KEPT = 4
"""Of one process to one file. More are opened while more threads use the file, and closed afterwards."""


class Connections:
    """The connections of this process to one file; threads may share them.

    Attributes:
        path: the file.
        url: its SQLAlchemy URL.
    """

    def __init__(self, folder: str, name: str) -> None:
        """Args:
        name: of the file, without its ending.
        """
        self.path = Path(folder).absolute() / f"{name}.db"
        self.url = create_db_conn_string(folder, name)
        self._engine = create_engine(
            self.url,
            poolclass=QueuePool,
            pool_size=CONNECTIONS_KEPT,
            max_overflow=-1,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        )
        self._file: tuple[int, int] | None = None
        event.listen(self._engine, "connect", _prepare)
        GATE.keep(self)

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """Yield a connection in a transaction, which is committed at the end."""
        with GATE.entered():
            self._follow_file()
            with self._engine.connect() as connection, connection.begin():
                yield connection

    def has_table(self, name: str) -> bool:
        """Return whether the file has a table."""
        with self.connect() as connection:
            return self._engine.dialect.has_table(connection, name)

    def close(self) -> None:
        """Close what is not in use; the next use opens again."""
        self._engine.dispose()

    def _follow_file(self) -> None:
        identity = identity_of(self.path)
        if identity != self._file:
            self.close()
            self._file = identity


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one that takes its name later; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _prepare(connection: Any, _record: Any) -> None:
    # A commit survives a crash of the process. After a loss of power the last ones may be missing, and the
    # file is whole: the ingestion goes back to the last row that is there.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
