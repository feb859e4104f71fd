"""The interface of the file operations that publishing relies on, and their local implementation.

Crash safety depends on three of them: `put_if_absent` creates a
whole file or nothing and lets one of two writers win, `rename` moves a whole folder or
nothing, `sync` makes written data survive a power failure. Another file system is another
class with these methods (hadoop_files.py); nothing else touches files. As in Spark, names that begin with
"." or "_" are not data.
"""

import errno
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.abilities import UNSUPPORTED, has_symbolic_links, lack_of, link_or_rename

NANOSECONDS_A_MS = 1_000_000
AT_ONCE = 8
"""Folders or files written, moved, copied or read in parallel. All of that mostly waits for the disk, which
flushes together what comes at once, or for the object store.
"""

T = TypeVar("T")
R = TypeVar("R")


class Entry(Value, kw_only=True):
    """A name in a folder.

    Attributes:
        size: bytes; 0 for a folder.
        modified_ms: when it was last written, milliseconds since 1970 UTC; 0 for a folder.
    """

    name: str
    size: int
    modified_ms: int
    is_folder: bool


class FileSystem(Protocol):
    """File operations on absolute paths or URLs with "/" between the names."""

    def list(self, folder: str) -> tuple[Entry, ...]:
        """Return the entries of a folder, sorted by name; none for a folder that does not exist."""
        ...

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        ...

    def read(self, file: str) -> bytes | None:
        """Return the whole content, or None for a file that does not exist."""
        ...

    def put_if_absent(self, file: str, content: bytes) -> bool:
        """Create a durable file atomically. Return False when the file already exists.

        Raises:
            FileNotFoundError: another process removed the folder, or the half-written file, meanwhile.
        """
        ...

    def rename(self, moves: Mapping[str, str]) -> None:
        """Move folders of one file system, each atomically; all of them are durable when it returns.

        Args:
            moves: the target of each source. One that cannot be moved does not keep the others from it.

        Raises:
            FileNotFoundError: a source does not exist.
            FileExistsError: a target exists.
        """
        ...

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content; a missing path is not an error."""
        ...

    def sync(self, folder: str) -> None:
        """Make everything in the folder survive a power failure."""
        ...

    def moves_folders_whole(self, folder: str) -> bool:
        """Return whether `rename` is atomic there; otherwise files are copied one by one.

        Raises:
            OutputError: neither way of publishing is safe there.
        """
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy a file durably and atomically, replacing the target."""
        ...

    def digest(self, file: str) -> str | None:
        """Return the SHA-256 of the content in hexadecimal, or None for a file that does not exist."""
        ...

    def local_path(self, place: str) -> Path | None:
        """Return the place as a path of this machine; None on a file system that has no links."""
        ...


class LocalFiles:
    """The file system of this machine, or a shared POSIX mount with atomic rename and link."""

    def list(self, folder: str) -> tuple[Entry, ...]:
        """An entry that vanishes during the call is left out."""
        entries: list[Entry] = []
        try:
            with os.scandir(folder) as found:
                for item in found:
                    with suppress(FileNotFoundError):
                        entries.append(_entry(item))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted(entries, key=lambda entry: entry.name))

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def read(self, file: str) -> bytes | None:
        try:
            return Path(file).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put_if_absent(self, file: str, content: bytes) -> bool:
        """Write a hidden file beside it, which is then linked, or renamed without replacing.

        A link appears atomically and fails when the name exists. A crash in between leaves the
        hidden file.
        """
        target = Path(file)
        make_folders(target.parent)
        hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        with hidden.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        try:
            link_or_rename(hidden, target)
        except FileExistsError:
            return False
        finally:
            hidden.unlink(missing_ok=True)
        sync_folder(target.parent)
        return True

    def rename(self, moves: Mapping[str, str]) -> None:
        """What many moves change is flushed once for all of them."""
        into = {Path(target).parent for target in moves.values()}
        at_once(sync_folder, {changed for folder in into for changed in _make_folders(folder)})
        failures: list[OSError] = []
        for source, target in moves.items():
            try:
                self._move(source, target)
            except OSError as error:
                failures.append(error)
        # The targets first: a power cut may leave a folder in both places, and never in none.
        at_once(sync_folder, into)
        at_once(sync_folder, {Path(source).parent for source in moves})
        if failures:
            raise failures[0]

    def _move(self, source: str, target: str) -> None:
        if self.exists(target):
            raise FileExistsError(errno.EEXIST, "the target of a rename exists", target)
        Path(source).rename(target)

    def delete(self, path: str) -> None:
        if Path(path).is_dir() and not Path(path).is_symlink():
            # Another process may delete the same folder; missing files are not an error.
            shutil.rmtree(path, ignore_errors=True)
            if self.exists(path):
                shutil.rmtree(path)
        else:
            Path(path).unlink(missing_ok=True)

    def sync(self, folder: str) -> None:
        for here, _, names in os.walk(folder):
            for name in names:
                _sync(Path(here, name))
            sync_folder(Path(here))

    def moves_folders_whole(self, folder: str) -> bool:
        """Raises `OutputError` where a file cannot be created for one of two writers only."""
        lack = lack_of(Path(folder))
        if lack:
            raise OutputError(
                f"tables of format parquet cannot be published to {folder}: its file system is not safe:"
                f" {lack}",
                "set [warehouse] path to another file system, or write format: iceberg in the dataset's "
                "declaration, with a catalog that compares and swaps ([iceberg.catalog] type = rest or jdbc)",
            )
        return True

    def copy(self, source: str, target: str) -> None:
        make_folders(Path(target).parent)
        hidden = Path(target).with_name(f".{Path(target).name}.{uuid.uuid4().hex}")
        try:
            shutil.copyfile(source, hidden)
            _sync(hidden)
            hidden.replace(target)
        finally:
            hidden.unlink(missing_ok=True)
        sync_folder(Path(target).parent)

    def digest(self, file: str) -> str | None:
        try:
            with Path(file).open("rb") as content:
                return hashlib.file_digest(content, "sha256").hexdigest()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def local_path(self, place: str) -> Path | None:
        return Path(place) if has_symbolic_links(Path(place)) else None


def at_once(work: Callable[[T], R], what: Iterable[T]) -> list[R]:
    """Do the same with several files or folders in parallel, and return the results in their order."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(work, what))


def is_data(name: str) -> bool:
    """Return whether Spark reads a file of this name as data."""
    return not name.startswith((".", "_"))


def _entry(item: "os.DirEntry[str]") -> Entry:
    if item.is_dir():
        return Entry(name=item.name, size=0, modified_ms=0, is_folder=True)
    stat = item.stat()
    return Entry(
        name=item.name, size=stat.st_size, modified_ms=stat.st_mtime_ns // NANOSECONDS_A_MS, is_folder=False
    )


def make_folders(folder: Path) -> None:
    """Create a folder and its parents, each durably."""
    for changed in _make_folders(folder):
        sync_folder(changed)


def _make_folders(folder: Path) -> tuple[Path, ...]:
    """Create a folder and its parents, and return those that have new entries."""
    if folder.is_dir():
        return ()
    changed = _make_folders(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        return changed
    return (*changed, folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder durable; ignore a folder that was deleted meanwhile.

    Where folders cannot be flushed, the file system alone decides when its entries are durable.
    """
    try:
        _sync(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
