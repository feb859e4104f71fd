"""The cache of compiled files: a folder of the project, which may be deleted at any time.

    .tidegate/compiled/KEY      a digest, then what `compiler.kept_file` has encoded, compressed

Two commands at once write the same content under the same key, each by a rename. A file that is damaged or of
another user is as if it were not there, and a folder that cannot be written is not an error. The code and the
time zones are part of the key. A project that compiles at once has no cache. The contents are as secret as
the YAML with the values of its variables, and readable by their user alone.
"""

import os
import stat
import sys
import sysconfig
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from zoneinfo import TZPATH

from tidegate import compiler, domain
from tidegate.release import release

FOLDER = Path(".tidegate", "compiled")

MIN_BYTES = 256 * 1024
"""Contents with less in all are not worth a folder: they are compiled within a tenth of a second."""

MAX_BYTES = 256 * 1024 * 1024
MAX_FILES = 25_000
"""When the folder has more, its older half is deleted. A project has at most 10,000 files."""

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
DIGEST_BYTES = 20
FASTEST = 1
"""How much zlib compresses. More makes it a third smaller, and takes several times as long."""


class CompileCache:
    """The cache of a project; see `compiler.kept_file.Cache`. `writing` writes what was put."""

    def __init__(self, project: Path) -> None:
        self.code = _code()
        self._folder = project / FOLDER
        self._usable = _is_private(self._folder)
        self._new: dict[str, bytes] = {}
        self._new_bytes = 0

    def get(self, key: bytes) -> bytes | None:
        """Return the content of a key; None if there is none, or a damaged one."""
        if not self._usable:
            return None
        try:
            descriptor = os.open(self._folder / key.hex(), os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as file:
                if os.fstat(descriptor).st_uid != os.geteuid():
                    return None
                content = file.read()
        except OSError:
            return None
        digest, body = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        return zlib.decompress(body) if digest == _digest(key, body) else None

    def put(self, key: bytes, content: bytes) -> None:
        """Keep the content of a key."""
        body = zlib.compress(content, FASTEST)
        self._new[key.hex()] = _digest(key, body) + body
        self._new_bytes += len(content)

    @contextmanager
    def writing(self) -> Generator[None]:
        """Write what is put meanwhile."""
        yield
        if self._new and (self._usable or self._new_bytes >= MIN_BYTES):
            try:
                self._write()
            except OSError:
                # The next command compiles again. What needs the disk reports that it is full.
                return

    def _write(self) -> None:
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        if not _is_private(self._folder):
            return
        ignored = self._folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n")
        for name, content in self._new.items():
            path = self._folder / f"{name}.{os.getpid()}"
            with os.fdopen(os.open(path, NEW_FILE, PRIVATE_FILE), "wb") as file:
                file.write(content)
            path.replace(self._folder / name)
        self._make_room()

    def _make_room(self) -> None:
        """Delete the older half of the files if they are too many, or too large in all."""
        with os.scandir(self._folder) as entries:
            found = [(each.stat(follow_symlinks=False), each.path) for each in entries]
        if len(found) <= MAX_FILES and sum(status.st_size for status, _ in found) <= MAX_BYTES:
            return
        found.sort(key=lambda each: each[0].st_mtime_ns)
        for _, path in found[: len(found) // 2]:
            Path(path).unlink(missing_ok=True)


def _code() -> bytes:
    """Return a digest of the code that compiles, of the installed packages and of the time zones."""
    found = blake2b(f"{release()} {sys.version}".encode(), digest_size=DIGEST_BYTES)
    for package in (compiler, domain):
        for path in sorted(_modules(Path(package.__path__[0]))):
            found.update(_stamp(path))
    for path in (sysconfig.get_path("purelib"), *TZPATH):
        # A package that is installed or removed changes the folder of all.
        found.update(_stamp(path))
    return found.digest()


def _is_private(folder: Path) -> bool:
    """Return whether a folder is ours and no other user writes to it: what is in it is trusted."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & WRITTEN_BY_OTHERS
    )


def _digest(key: bytes, body: bytes) -> bytes:
    return blake2b(key + body, digest_size=DIGEST_BYTES).digest()


def _modules(folder: Path) -> Iterator[str]:
    """Yield the files of a package and of the packages in it, without their bytecode."""
    with os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir():
                if each.name != "__pycache__":
                    yield from _modules(Path(each.path))
            else:
                yield each.path


def _stamp(path: str) -> bytes:
    """Return what differs once a file or folder was changed."""
    try:
        found = Path(path).stat()
    except OSError:
        return b"none"
    return f"{path} {found.st_size} {found.st_mtime_ns}".encode("utf-8", "surrogateescape")
