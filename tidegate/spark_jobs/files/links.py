"""Folders of hard links, and a symbolic link that is switched from one folder to another.

Only for folders of this machine and shared POSIX mounts (`FileSystem.local_path`). A folder of links
appears whole, by a rename; the symbolic link is replaced by a rename too, so that a process which follows
it finds the old folder or the new one. A process that is killed leaves hidden names, which a prune removes.
"""

import errno
import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tidegate.spark_jobs.files.filesystem import make_folders, sync_folder
from tidegate.spark_jobs.files.scheme import is_local, scheme_of

CANNOT_LINK = (errno.EPERM, errno.EMLINK, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS)
"""A hard link is refused: to a file of another user, to one with too many links, across mounts, or at all."""


def create_linked(folder: Path, links: Mapping[str, str]) -> None:
    """Create a folder of hard links durably; one that exists stays as it is.

    A symbolic link takes the place of a hard link that the system refuses.

    Args:
        links: the existing file of each name. Paths are texts: to make a `Path` takes longer than a link.

    Raises:
        FileNotFoundError: one of the files does not exist.
    """
    if folder.exists():
        return
    make_folders(folder.parent)
    hidden = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    hidden.mkdir()
    try:
        for name, file in links.items():
            _link(file, f"{hidden}/{name}")
        sync_folder(hidden)
        # If another process has created the folder meanwhile, the rename is refused: it is not empty.
        with suppress(FileExistsError, NotADirectoryError):
            hidden.rename(folder)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    sync_folder(folder.parent)


def is_link(path: str) -> bool:
    """Return whether a path or URL is a symbolic link; False on a file system that is not local."""
    return is_local(path) and _local(path).is_symlink()


def link_out(folder: str, path: str) -> Path | None:
    """Return the link on the way from a folder to a path in it that leads out of the folder, if one does.

    None too on a file system that is not local.
    """
    if not is_local(folder):
        return None
    here, there = _local(folder), _local(path)
    real = here.resolve()
    on_the_way = [there, *there.parents][: len(there.relative_to(here).parts)]
    if not on_the_way or there.resolve().is_relative_to(real):
        return None
    return next(name for name in reversed(on_the_way) if not name.resolve().is_relative_to(real))


def _local(place: str) -> Path:
    """Return a path or file: URL as a path."""
    return Path("/" + place[len("file:") :].lstrip("/")) if scheme_of(place) else Path(place)


def add_links(folder: Path, links: Mapping[str, str]) -> bool:
    """Create those of some links that a folder lacks, and return whether it lacked any."""
    lost = {name: file for name, file in links.items() if not (folder / name).exists()}
    for name, file in lost.items():
        # A link to nothing may have the name.
        (folder / name).unlink(missing_ok=True)
        _link(file, f"{folder}/{name}")
    if lost:
        sync_folder(folder)
    return bool(lost)


def switch_link(link: Path, target: Path) -> None:
    """Point a symbolic link to a folder below its own folder, atomically and durably.

    Raises:
        OSError: there is a file or folder of that name which is not a link.
    """
    if link.exists() and not link.is_symlink():
        raise OSError(f"{link} is not a link that Tidegate has created; move it to another place")
    hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    hidden.symlink_to(target.relative_to(link.parent), target_is_directory=True)
    hidden.replace(link)
    sync_folder(link.parent)


def link_target(link: Path) -> str | None:
    """Return the name of the folder that a symbolic link points to; None when it points to none."""
    try:
        target = link.readlink()
    except OSError:
        return None
    return target.name if link.is_dir() else None


def _link(file: str, name: str) -> None:
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in CANNOT_LINK:
            raise
        place = Path(name)
        place.symlink_to(os.path.relpath(Path(file).resolve(), place.parent.resolve()))
