"""The mistakes of templates: the same one of several rows is one message.

The parts of a template have the place of the template, so the mistakes of a thousand rows are at one place.
The first row is named behind the message, the others are counted. What is wrong in `defaults` is said once,
whatever the part to which it was added.
"""

from hashlib import blake2b
from typing import NamedTuple

OF_DEFAULTS = "defaults"
"""The row of a node that `defaults` have added to a part; that of a template has a colon."""


class Mistake(NamedTuple):
    """What is one message: a code at a place, with the difference from others there.

    Attributes:
        which: the summary; of a template the number of the mistake among those of a row at this place.
    """

    code: str
    line: int
    column: int
    which: str | int


class FoundRows(NamedTuple):
    """What is known of the rows of mistakes, as a value.

    Attributes:
        said: code, line, column and row of what was said, with a number for each text of it.
        rows: each mistake with its first row, and how many rows have it.
    """

    said: tuple[tuple[tuple[str, int, int, str], tuple[int, ...]], ...] = ()
    rows: tuple[tuple[Mistake, str, int], ...] = ()


class RowsOfMistakes:
    """Of each mistake in a template the first row, and how many rows have it."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, int, int, str], list[int]] = {}
        self._rows: dict[Mistake, tuple[str, int]] = {}

    def mistake(self, code: str, line: int, column: int, summary: str, row: str) -> Mistake:
        """Return which mistake a message is, and count its row."""
        if not row:
            return Mistake(code, line, column, summary)
        if row == OF_DEFAULTS:
            return Mistake(code, line, column, OF_DEFAULTS)
        said = self._said.setdefault((code, line, column, row), [])
        if (known := _number(summary)) in said:
            return Mistake(code, line, column, said.index(known))
        said.append(known)
        found = Mistake(code, line, column, len(said) - 1)
        first, number = self._rows.get(found, (row, 0))
        self._rows[found] = (first, number + 1)
        return found

    def repeats(self, code: str, line: int, column: int, row: str) -> bool:
        """Return whether another row of the template has such a mistake at this place."""
        first, _ = self._rows.get(Mistake(code, line, column, 0), ("", 0))
        return bool(row) and first not in ("", row)

    def behind(self, mistake: Mistake) -> str:
        """Return what follows the message of a mistake: its rows."""
        first, number = self._rows.get(mistake, ("", 0))
        more = f" and {number - 1} more" if number > 1 else ""
        return f" ({first}){more}" if first else ""

    def found(self) -> FoundRows:
        """Return what is known, for `take`."""
        said = tuple((place, tuple(texts)) for place, texts in self._said.items())
        return FoundRows(said, tuple((mistake, *rows) for mistake, rows in self._rows.items()))

    def take(self, found: FoundRows) -> None:
        """Add what another one knows of mistakes that this one does not have."""
        for place, texts in found.said:
            self._said.setdefault(place, list(texts))
        for mistake, first, number in found.rows:
            self._rows.setdefault(mistake, (first, number))


def _number(summary: str) -> int:
    """Return the number of a text, which is the same in every process."""
    return int.from_bytes(blake2b(summary.encode("utf-8", "surrogatepass"), digest_size=8).digest())
