"""Connections to one SQLite file that are kept between statements.

Building an engine costs a hundred times as much as a small statement, and closing the last connection to a
file writes its log back. A file that was replaced or removed is noticed at the next use: the connections to
the old one are closed.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.pool import QueuePool

from tidegate.dagster_defs.internals.sqlite_connections import (
    create_db_conn_string,
    create_engine,
)
from tidegate.dagster_defs.sqlite.fork_gate import GATE

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
