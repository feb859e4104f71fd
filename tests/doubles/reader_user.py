"""A user that may read a folder and not write it, within this process."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

UNPRIVILEGED = 65534
"""The user and group without rights of every Linux."""


@contextmanager
def open_to_readers() -> Generator[Path]:
    """Yield a new folder that every user may enter; pytest's own folders are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="readers-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@contextmanager
def reader_of(folder: Path) -> Generator[None]:
    """Run the block as a user that may read the files of a folder, and neither write nor add any."""
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)
    with as_reader():
        yield


@contextmanager
def as_reader() -> Generator[None]:
    """Run the block as a user without special rights: the superuser may read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(UNPRIVILEGED)
    os.seteuid(UNPRIVILEGED)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
