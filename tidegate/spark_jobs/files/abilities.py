"""What a local file system can do, found out by trying: FAT, FUSE and network mounts lack some of it.

    hard links         create a file for one of two writers; else renames that replace nothing; else refused
    symbolic links     the view of a Parquet table for other readers; else there is none
    fsync of folders   renames survive a power cut at once; else when the file system writes them

A trial leaves nothing, and is made once for each file system and process.
"""

import ctypes
import errno
import os
import uuid
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

UNSUPPORTED = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.ENOTTY, errno.EBADF}
)
"""What file systems answer to a call that they do not have."""
_HERE = -100
_REPLACE_NOTHING = 1


def link_or_rename(hidden: Path, file: Path) -> None:
    """Give a file its name, unless that exists. The hidden name may be left.

    Raises:
        FileExistsError: the name exists.
        OSError: the file system has neither hard links nor renames that replace nothing.
    """
    try:
        os.link(hidden, file)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        _rename_unless_it_exists(hidden, file)


def lack_of(folder: Path) -> str:
    """Return what a file system lacks to publish safely; "" for nothing.

    Args:
        folder: it may not exist yet.
    """
    here = _existing(folder)
    return _lack(here.stat().st_dev, here)


def has_symbolic_links(folder: Path) -> bool:
    """Return whether symbolic links can be created; true where nothing can be created, as for a reader."""
    here = _existing(folder)
    return _links(here.stat().st_dev, here)


@lru_cache(100)
def _lack(_: int, folder: Path) -> str:
    one, other = (folder / f".tidegate-{uuid.uuid4().hex}" for _ in range(2))
    try:
        one.touch(exist_ok=False)
    except OSError:
        return ""  # The publish will say why nothing can be written.
    try:
        link_or_rename(one, other)
    except OSError as error:
        return f"it has neither hard links nor renames that replace nothing ({error.strerror})"
    finally:
        for file in (one, other):
            with suppress(OSError):
                file.unlink(missing_ok=True)
    return ""


@lru_cache(100)
def _links(_: int, folder: Path) -> bool:
    link = folder / f".tidegate-{uuid.uuid4().hex}"
    try:
        link.symlink_to("nothing")
    except OSError as error:
        return error.errno not in UNSUPPORTED
    with suppress(OSError):
        link.unlink()
    return True


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _rename_unless_it_exists(source: Path, target: Path) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    rename = getattr(library, "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(target))
    if rename(_HERE, os.fsencode(source), _HERE, os.fsencode(target), _REPLACE_NOTHING) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))
