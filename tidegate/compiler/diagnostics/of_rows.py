"""The mistakes of templates: the same one of several rows is one message.

The parts of a template have the place of the template, so the mistakes of a thousand rows are at one place.
The first row is named behind the message, the others are counted. What is wrong in `defaults` is said once,
whatever the part to which it was added.
"""

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
        if (known := hash(summary)) in said:
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
