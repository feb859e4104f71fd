"""What the compiler makes of one file by itself, kept for the next time: the file need not be read again.

What is kept is found by a key of all that is known before a file is read: its bytes, the settings, the values
of its variables, and the version of the code. It holds the rest of what it depends on, and is used only if
that is as it was: other files that the file names, the parts of other apps, the formats of deployed datasets.
Whatever depends on further files (rules across apps, upstream tasks) is never kept. A file with an error is
compiled each time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

import msgspec

from tidegate.compiler.diagnostics.diagnostic import Found
from tidegate.compiler.outline import Outline
from tidegate.compiler.reader.text import MAX_FILE_BYTES
from tidegate.compiler.scope.others import OtherApp
from tidegate.compiler.scope.project_files import ProjectFile, ReadFile
from tidegate.domain.model import App
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.domain.value import Value

DIGEST_BYTES = 20


class Cache(Protocol):
    """Keeps contents by key; it may lose any of them at any time, and never returns another one."""

    @property
    def code(self) -> bytes:
        """What differs between two versions of the code that compiles, and of what it uses."""
        ...

    def get(self, key: bytes) -> bytes | None:
        """Return the content of a key; None if there is none."""
        ...

    def put(self, key: bytes, content: bytes) -> None:
        """Keep the content of a key."""
        ...


class Reading(NamedTuple):
    """A file of the project that was read, with the digest of what was found."""

    path: str
    beside: str
    max_bytes: int
    digest: bytes


class KeptFile(Value, kw_only=True):
    """What the compiler made of one file.

    Attributes:
        app: its app, without the upstream tasks that are detected.
        digest: of that app (`content_digest`).
        found: its warnings and notes so far.
        readings: the files that it names.
        formats: the formats of deployed datasets that were asked for; None for one that is not deployed.
        others: digests of what other apps offered that were looked at, by name.
        named: the other apps of which it names parts.
        offered: what it offers to other apps, if one of them has asked.
        today, notes: the notes for the special dates after a day.
    """

    app: App
    digest: str
    outline: Outline
    found: Found
    readings: tuple[Reading, ...]
    formats: dict[str, DatasetFormat | None]
    others: dict[str, bytes]
    named: tuple[str, ...]
    offered: OtherApp | None = None
    today: date | None = None
    notes: Found = Found()


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(KeptFile)


def encoded(kept: KeptFile) -> bytes | None:
    """Return what is to be kept as bytes; None for what bytes would change, such as very large numbers."""
    try:
        content = _ENCODER.encode(kept)
        return content if _DECODER.decode(content) == kept else None
    except (msgspec.MsgspecError, OverflowError, TypeError, ValueError, RecursionError):
        return None


def decoded(content: bytes) -> KeptFile | None:
    """Return what was kept; None for what is not the work of `encoded`."""
    try:
        return _DECODER.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


_VARIABLE = re.compile(rb"\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}")
"""More than the variables that are used: those in comments, and those that a second `$` escapes."""


def key_of(
    code: bytes, settings: Iterable[str], file: str, data: bytes, variables: Mapping[str, str]
) -> bytes:
    """Return the key of a file, which differs with all that is known before the file is read."""
    names = sorted({name.decode() for name in _VARIABLE.findall(data)})
    used = {name: variables[name] for name in names if name in variables}
    return _digest((code, tuple(settings), file, data, used))


def digest_of(value: OtherApp | ProjectFile | None) -> bytes:
    """Return a digest of what another app offers, or of a file."""
    return _digest(value)


def _digest(value: Any) -> bytes:
    try:
        content = msgspec.msgpack.encode(value, order="deterministic")
    except (OverflowError, ValueError):
        # A very large number, or the name of a file that is not text.
        content = repr(value).encode("utf-8", "backslashreplace")
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


class NotedFiles:
    """A reader of files that notes what it has read, and reads each file once."""

    def __init__(self, read_file: ReadFile) -> None:
        self._read_file = read_file
        self._found: dict[tuple[str, str, int], ProjectFile] = {}

    def __call__(self, path: str, beside: str = "", max_bytes: int = MAX_FILE_BYTES) -> ProjectFile:
        """Return the file at a path, and note it."""
        asked = (path, beside, max_bytes)
        if asked not in self._found:
            self._found[asked] = self._read_file(path, beside, max_bytes)
        return self._found[asked]

    def readings(self) -> tuple[Reading, ...]:
        """Return what was read."""
        return tuple(Reading(*asked, digest_of(found)) for asked, found in self._found.items())

    def same(self, readings: Iterable[Reading]) -> bool:
        """Return whether files are as they were."""
        return all(
            digest_of(self(each.path, each.beside, each.max_bytes)) == each.digest for each in readings
        )

    def beside(self) -> Iterator[str]:
        """Yield the names of the files that were looked for beside a file: those of rows."""
        yield from (found.name for (_, beside, _), found in self._found.items() if beside)


class NotedFormats(Mapping[str, DatasetFormat]):
    """Formats of deployed datasets, which notes those that were asked for."""

    def __init__(self, formats: Mapping[str, DatasetFormat]) -> None:
        self._formats = formats
        self.asked: dict[str, DatasetFormat | None] = {}

    def __getitem__(self, name: str) -> DatasetFormat:
        """Return the format of a dataset, and note that it was asked for."""
        found = self.asked[name] = self._formats.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._formats)

    def __len__(self) -> int:
        """Return how many datasets are known."""
        return len(self._formats)
