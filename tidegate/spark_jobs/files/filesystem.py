"""The few file operations that publishing relies on, as a seam, and their local implementation.

Everything that must hold after a crash rests on three of them: `put_if_absent` creates a
whole file or nothing and lets one of two writers win, `rename` moves a whole folder or
nothing, `sync` makes written data survive a power cut. Another file system is another
class with these methods (hadoop_files.py); nothing else touches files. Names that begin with "." or "_" are
not data, as Spark holds it too.
"""

import errno
import hashlib
import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tidegate.domain.value import Value

NANOSECONDS_A_MS = 1_000_000


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
        """What is in a folder, sorted by name; nothing for a folder that does not exist."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file or folder stands there."""
        ...

    def read(self, file: str) -> bytes | None:
        """The whole content, or None for a file that does not exist."""
        ...

    def put_if_absent(self, file: str, content: bytes) -> bool:
        """Creates a durable file, whole or not at all. False when one stands there already.

        Raises:
            FileNotFoundError: somebody removed the folder, or the half-written file, meanwhile.
        """
        ...

    def rename(self, source: str, target: str) -> None:
        """Moves a folder, whole or not at all, durably.

        Raises:
            FileNotFoundError: the source does not exist.
            FileExistsError: the target exists.
        """
        ...

    def delete(self, path: str) -> None:
        """Removes a file or a folder with all it holds; one that is not there is no error."""
        ...

    def sync(self, folder: str) -> None:
        """Returns once everything in the folder would survive a power cut."""
        ...

    def moves_folders_whole(self, folder: str) -> bool:
        """Whether `rename` can be used there; where not, files are copied one by one.

        Raises:
            OutputError: nothing can be published there safely, either way.
        """
        ...

    def copy(self, source: str, target: str) -> None:
        """Copies a file durably, whole or not at all, over whatever stands at the target."""
        ...

    def digest(self, file: str) -> str | None:
        """SHA-256 of the content in hexadecimal digits, or None for a file that does not exist."""
        ...


class LocalFiles:
    """The file system of this machine, or a shared POSIX mount with atomic rename and link."""

    def list(self, folder: str) -> tuple[Entry, ...]:
        """See `FileSystem.list`. A name that vanishes while it is looked at is left out."""
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
        """See `FileSystem.exists`."""
        return os.path.lexists(path)

    def read(self, file: str) -> bytes | None:
        """See `FileSystem.read`."""
        try:
            return Path(file).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put_if_absent(self, file: str, content: bytes) -> bool:
        """See `FileSystem.put_if_absent`.

        The content is written beside under a hidden name and then linked: a link appears
        whole, and fails where the name is taken. A crash between leaves the hidden file.
        """
        target = Path(file)
        _make_folders(target.parent)
        hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        with hidden.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(hidden, file)
        except FileExistsError:
            return False
        finally:
            hidden.unlink(missing_ok=True)
        _sync_folder(target.parent)
        return True

    def rename(self, source: str, target: str) -> None:
        """See `FileSystem.rename`."""
        _make_folders(Path(target).parent)
        if self.exists(target):
            raise FileExistsError(errno.EEXIST, "the target of a rename exists", target)
        Path(source).rename(target)
        _sync_folder(Path(target).parent)
        _sync_folder(Path(source).parent)

    def delete(self, path: str) -> None:
        """See `FileSystem.delete`."""
        if Path(path).is_dir() and not Path(path).is_symlink():
            # Another process may delete the same folder: what is gone is as it should be.
            shutil.rmtree(path, ignore_errors=True)
            if self.exists(path):
                shutil.rmtree(path)
        else:
            Path(path).unlink(missing_ok=True)

    def sync(self, folder: str) -> None:
        """See `FileSystem.sync`."""
        for here, _, names in os.walk(folder):
            for name in names:
                _sync(Path(here, name))
            _sync_folder(Path(here))

    def moves_folders_whole(self, folder: str) -> bool:
        """See `FileSystem.moves_folders_whole`."""
        return True

    def copy(self, source: str, target: str) -> None:
        """See `FileSystem.copy`."""
        _make_folders(Path(target).parent)
        hidden = Path(target).with_name(f".{Path(target).name}.{uuid.uuid4().hex}")
        try:
            shutil.copyfile(source, hidden)
            _sync(hidden)
            hidden.replace(target)
        finally:
            hidden.unlink(missing_ok=True)
        _sync_folder(Path(target).parent)

    def digest(self, file: str) -> str | None:
        """See `FileSystem.digest`."""
        try:
            with Path(file).open("rb") as content:
                return hashlib.file_digest(content, "sha256").hexdigest()
        except (FileNotFoundError, NotADirectoryError):
            return None


def is_data(name: str) -> bool:
    """Whether a file of this name holds data, as Spark sees it."""
    return not name.startswith((".", "_"))


def _entry(item: "os.DirEntry[str]") -> Entry:
    if item.is_dir():
        return Entry(name=item.name, size=0, modified_ms=0, is_folder=True)
    stat = item.stat()
    return Entry(
        name=item.name, size=stat.st_size, modified_ms=stat.st_mtime_ns // NANOSECONDS_A_MS, is_folder=False
    )


def _make_folders(folder: Path) -> None:
    """Creates a folder and its parents, each entered durably into its own parent."""
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable; one that was deleted meanwhile has none."""
    with suppress(FileNotFoundError):
        _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
