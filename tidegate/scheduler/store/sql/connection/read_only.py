"""Stores that this process may only read: a SQLite file or folder without write permission, a PostgreSQL
user with SELECT only, a standby server.

Every command that only reads works on them. A SQLite file in WAL mode needs two files beside it even for
reading: `-wal` and `-shm`. While a process has the store open they exist, and a reader uses them. Where
they do not exist the store is closed, and a reader that may not write it reads the file as it is
(`immutable=1`) and leaves nothing beside it.
"""

import os
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL

from tidegate.scheduler.store.error import StoreReadOnly

NOT_OPENED = "unable to open database file"
"""What SQLite says if it cannot create the files that belong to WAL mode."""

REFUSALS = ("readonly database", "permission denied", "read-only transaction", NOT_OPENED)
"""Parts of the messages of databases that refuse to read or to write because a permission is missing."""

WRITE_HINT = (
    "use a user that may write the store: its file and folder, or its tables; commands that only read, such"
    " as `tidegate why` and `tidegate jobs list`, need no such permission"
)
READ_HINT = "let the user read the store: the file, its folder and the files beside it, or GRANT SELECT"
LEFT_HINT = "a process that died left changes beside it; run `tidegate jobs list` as a user that may write it"

_FILE_SCHEME = "file://"

HIDDEN = "***"
SECRET_OPTIONS = ("password", "passfile", "sslpassword")
"""Options of PostgreSQL's client that are secret or lead to a secret."""


def refused(message: str) -> bool:
    """Return whether a database's message says that this user lacks a permission."""
    return any(part in message for part in REFUSALS)


def not_permitted(url: URL, message: str, *, writes: bool) -> StoreReadOnly:
    """Return the error of a store that this user may not write, or not read."""
    verb, hint = ("written", WRITE_HINT) if writes else ("read", READ_HINT)
    if NOT_OPENED in message and _has_changes_beside_it(file_of(url)):
        hint = LEFT_HINT
    return StoreReadOnly(f"the store {shown(url)} cannot be {verb} by this user: {message}", hint)


def closed_read_only(url: URL) -> URL | None:
    """Return the URL that reads a closed SQLite file that this user may not write; else None."""
    file = file_of(url)
    if url.get_backend_name() != "sqlite" or not file.is_file():
        return None
    if all(os.access(path, os.W_OK, effective_ids=True) for path in (file, file.parent)):
        return None
    if _beside(file, "shm").exists() or _has_changes_beside_it(file):
        return None
    return url.set(
        database=file.resolve().as_uri(),
        query={"immutable": "1", "mode": "ro", "uri": "true"},
    )


def _has_changes_beside_it(file: Path) -> bool:
    wal = _beside(file, "wal")
    return wal.is_file() and wal.stat().st_size > 0


def _beside(file: Path, kind: str) -> Path:
    return file.with_name(f"{file.name}-{kind}")


def file_of(url: URL) -> Path:
    """Return the file of a SQLite store."""
    name = str(url.database)
    return Path(unquote(name.removeprefix(_FILE_SCHEME)) if name.startswith(_FILE_SCHEME) else name)


def shown(url: URL) -> str:
    """Return a URL as the user wrote it, for messages: without a password, wherever the URL has it."""
    if str(url.database).startswith(_FILE_SCHEME):
        return f"sqlite:///{file_of(url)}"
    query = {name: HIDDEN if name in SECRET_OPTIONS else value for name, value in url.query.items()}
    return url.set(query=query).render_as_string()
