"""Whether others can read or write the files of a SQLite store: it has arguments, events and the journal.

New files are private (`store.sql.open`). Those of an older version, or of a careless copy, are not.
"""

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote

from tidegate.cli.operate.health.findings import Finding, Health

OWN_FOLDER = ".tidegate"
BESIDE = ("", "-wal", "-shm")
"""Ends of the names of a store's files."""

ANY, WRITE = stat.S_IRWXG | stat.S_IRWXO, stat.S_IWGRP | stat.S_IWOTH


def permission_findings(store_url: str) -> Iterator[Finding]:
    """Yield a finding for the folder and for each file of the store that others can use."""
    from sqlalchemy import make_url

    from tidegate.scheduler.store.sql.connection.read_only import file_of

    url = make_url(store_url)
    if url.get_backend_name() != "sqlite":
        return
    file = file_of(url)
    # Another folder may be shared: that others can list it shows them nothing.
    yield from _finding(file.parent, "700", ANY if file.parent.name == OWN_FOLDER else WRITE)
    for end in BESIDE:
        yield from _finding(file.with_name(f"{file.name}{end}"), "600", ANY)


def _finding(path: Path, private: str, refused: int) -> Iterator[Finding]:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(path.stat().st_mode)
        # In a folder with the sticky bit, as /tmp, no user replaces the files of others.
        if not mode & refused or (path.is_dir() and mode & stat.S_ISVTX):
            return
        writable = mode & stat.S_IWOTH
        yield Finding(
            part=f"permissions of {path.name}",
            health=Health.WRONG if writable else Health.NOTE,
            text=f"{path} is not private ({mode:o}): other users of this machine can"
            f" {'write' if writable else 'use'} it",
            remedy=f"`chmod {private} {quote(str(path))}`, unless a group is meant to have access",
        )
