"""The files below a local folder. Links are not followed: they may lead out of it, or in circles."""

import os
from collections.abc import Iterator
from pathlib import Path

from tidegate.spark_jobs.files.scheme import local_path
from tidegate.watcher.found import FILES_MAX, FoundFile, Listing, WatchError, note, too_many


def list_local(folder: str, dimensions: int) -> Listing:
    """Return the files below a folder; see `listing.list_folder`."""
    root = local_path(folder)
    if not Path(root).is_dir():
        raise WatchError(
            f"there is no folder {root}", "create it, mount it, or correct `path` of the dataset"
        )
    notes: list[str] = []
    files: list[FoundFile] = []
    for file in _walk(root, (), dimensions, notes):
        files.append(file)
        if len(files) > FILES_MAX:
            raise too_many(root)
    return Listing(files, notes)


def _walk(folder: str, folders: tuple[str, ...], dimensions: int, notes: list[str]) -> Iterator[FoundFile]:
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except FileNotFoundError:
        if not folders:
            raise WatchError(f"there is no folder {folder}", "create it, or mount it") from None
        # It was removed while the others were listed.
        return
    except OSError as error:
        raise WatchError(
            f"{_printable(folder)} cannot be listed: {error.strerror}", "check its permissions"
        ) from error
    for entry in found:
        if entry.is_symlink():
            note(notes, f"{_printable(entry.path)} is a link, which is not followed")
        elif entry.is_dir(follow_symlinks=False):
            if dimensions:
                yield from _walk(entry.path, (*folders, _printable(entry.name)), dimensions - 1, notes)
        elif entry.is_file(follow_symlinks=False) and not dimensions:
            try:
                stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield FoundFile(folders, _printable(entry.name), stat.st_size, str(stat.st_mtime_ns))


def _printable(name: str) -> str:
    """Return a name that every database stores: bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
