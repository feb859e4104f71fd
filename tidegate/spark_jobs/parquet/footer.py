"""The footer of a Parquet file on this machine, read without the JVM: its rows, and the bounds of a column.

    row groups … | records in Thrift's compact form | their length, 4 bytes | PAR1

A small publish spent a tenth of its time on the same question to the JVM, which has to load and compile what
answers it. `pyarrow` reads footers as well, and programs run without it: only the example requires it. A
record is a dictionary here, by the numbers of its fields. What cannot be read is None: then Parquet's own
library is asked, which says what is wrong.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

MAGIC = b"PAR1"
TAIL_BYTES = 8
"""The length of the footer, and the magic."""
ROWS, GROUPS = 3, 4
"""Fields of the footer, which has them in this order."""
COLUMNS, CHUNK, NAMES, STATISTICS = 1, 3, 3, 12
"""Fields of a row group, of its columns, and of what is known of one."""
NULLS, LARGEST, LEAST = 3, 5, 6
"""Fields of the statistics of a column."""
STOP, TRUE, FALSE, BYTE, SHORT, INT, LONG, DOUBLE, BINARY, LIST, SET, STRUCT = (*range(11), 12)
"""Types of the compact form."""
MANY = 15
"""The size of a list whose size follows."""


class Footer(NamedTuple):
    """A footer.

    Attributes:
        rows: the number of rows.
        content: all its bytes.
    """

    rows: int
    content: bytes

    def has_only(self, values: Sequence[tuple[str, str]]) -> bool:
        """Return whether it proves that each row has these texts in these columns, given by name and text."""
        try:
            groups = _Records(self.content).struct().get(GROUPS, [])
            wanted = {(name.encode(),): text.encode() for name, text in values}
            return all(_proves(group, wanted) for group in groups)
        except (IndexError, KeyError, ValueError):
            return False


def read_footer(file: Path) -> Footer | None:
    """Return the footer of a file; None if it has none, is encrypted, or damaged.

    Raises:
        OSError: the file cannot be read.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(size - TAIL_BYTES, 0))
        tail = opened.read()
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or length > size - TAIL_BYTES:
            return None
        opened.seek(size - TAIL_BYTES - length)
        content = opened.read(length)
    try:
        rows = _Records(content).struct(last=ROWS)[ROWS]
    except (IndexError, KeyError, ValueError):
        return None
    return Footer(rows, content) if isinstance(rows, int) and rows >= 0 else None


def _proves(group: dict[int, Any], wanted: dict[tuple[bytes, ...], bytes]) -> bool:
    chunks = (column[CHUNK] for column in group[COLUMNS])
    known = {tuple(chunk[NAMES]): chunk.get(STATISTICS, {}) for chunk in chunks}
    return all(
        (found := known.get(name, {})).get(NULLS) == 0 and found.get(LEAST) == found.get(LARGEST) == text
        for name, text in wanted.items()
    )


class _Records:
    """Reads records of Thrift's compact form."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def struct(self, last: int | None = None) -> dict[int, Any]:
        """Return the next record, up to its field `last`."""
        found: dict[int, Any] = {}
        number = 0
        while number != last and (head := self._byte()) != STOP:
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 0xF
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (SHORT, INT, LONG):
            return self._signed()
        if kind == BINARY:
            return self._take(self._unsigned())
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 != MANY else self._unsigned()
            return [self._value(head & 0xF) for _ in range(size)]
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._take(8)
        raise ValueError(f"a value of the unknown type {kind}")

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)

    def _unsigned(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 0x80:
            found |= (byte & 0x7F) << shift
            shift += 7
        return found | byte << shift

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _take(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._content):
            raise IndexError("the footer ends too early")
        return self._content[self._at - size : self._at]
