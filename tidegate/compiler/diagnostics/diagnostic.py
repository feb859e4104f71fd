"""A diagnostic: one message to the author of a YAML file, and the collector that gathers them.

A mistake of the author is a value of this kind, never an exception, so that one bad file or
one bad schedule cannot hide the others. A diagnostic carries the source line it speaks of,
and can therefore be drawn (`compiler.render`) without the file at hand.
"""

from typing import Protocol

from tidegate.compiler.diagnostics.catalogue import CATALOGUE, Severity
from tidegate.domain.model import At
from tidegate.domain.value import Value

MAX_DIAGNOSTICS_PER_FILE = 100
"""A file with more mistakes than this has one cause, and the reader needs no further copies of it."""

MAX_COLLECTED_PER_FILE = 1_000
"""From here on nothing is collected: what a message costs must not grow with the mistakes."""


class Related(Value, kw_only=True):
    """Another place that a diagnostic speaks of, such as the first of two equal keys."""

    at: At
    note: str


class Diagnostic(Value, kw_only=True):
    """One message.

    Attributes:
        code: key of the catalogue, for example "S104".
        end_column: the column after the last character at fault, on the line of `at`.
        summary: the rule that was broken and the value that broke it.
        hint: what to write instead.
        source: the line of the file, "" where there is none to show.
    """

    code: str
    severity: Severity
    at: At
    end_column: int
    summary: str
    hint: str
    source: str = ""
    related: tuple[Related, ...] = ()

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Diagnostics are printed in the order of the files and of the places in them."""
        return (self.at.file, self.at.line, self.at.column, self.code, self.summary)


class Place(Protocol):
    """Anything that knows where it was written: a node, or an `At`."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class Findings:
    """Gathers the diagnostics of one file.

    Args:
        file: name of the file as it is to be printed.
        text: its whole text, from which the shown lines are taken.
    """

    def __init__(self, file: str, text: str = "") -> None:
        self.file = file
        self._text = text
        self._lines: list[str] | None = None
        self._found: dict[tuple[str, int, int, str], Diagnostic] = {}

    def add(
        self,
        code: str,
        place: Place,
        summary: str,
        hint: str,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Adds one diagnostic; the same one twice is kept once."""
        key = (code, place.line, place.column, summary)
        if key in self._found or self.full:
            return
        source = self.line(place.line)
        self._found[key] = Diagnostic(
            code=code,
            severity=CATALOGUE[code].severity,
            at=self.at(place),
            end_column=_end_column(place, source),
            summary=summary,
            hint=hint,
            source=source,
            related=related,
        )

    def at(self, place: Place) -> At:
        """A place of this file as the model keeps it."""
        return At(file=self.file, line=place.line, column=place.column)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1; "" for a line that is not there."""
        if self._lines is None:
            self._lines = self._text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    @property
    def full(self) -> bool:
        """Whether nothing more is collected. A builder need not look for hints any more."""
        return len(self._found) >= MAX_COLLECTED_PER_FILE

    @property
    def failed(self) -> bool:
        """Whether an error was found; warnings do not count."""
        return any(d.severity == "error" for d in self._found.values())

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All that was found, by position, with a note in place of those above the limit."""
        found = sorted(self._found.values(), key=Diagnostic.sort_key)
        surplus = len(found) - MAX_DIAGNOSTICS_PER_FILE
        if surplus <= 0:
            return tuple(found)
        shown = found[:MAX_DIAGNOSTICS_PER_FILE]
        last = shown[-1]
        note = Diagnostic(
            code="R119",
            severity="error",
            at=At(file=last.at.file, line=last.at.line, column=last.end_column),
            end_column=last.end_column + 1,
            summary=f"at most {MAX_DIAGNOSTICS_PER_FILE} diagnostics of a file are shown,"
            f" got {len(found)}{'+' if self.full else ''}; {surplus} more follow after this place",
            hint="correct the ones above first; later ones are often caused by them",
            source=last.source,
        )
        return (*shown, note)


def _end_column(place: Place, source: str) -> int:
    """The end of the word at a place, where the place itself does not say it."""
    end = getattr(place, "end_column", None)
    if isinstance(end, int) and end > place.column:
        return end
    start = place.column - 1
    stop = start
    while stop < len(source) and (source[stop].isalnum() or source[stop] in "_-./"):
        stop += 1
    return max(stop, start + 1) + 1
