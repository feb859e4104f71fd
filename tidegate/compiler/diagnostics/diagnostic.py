"""A diagnostic, which is one message to the author of a YAML file, and the collector of diagnostics.

A mistake of the author is a value and never an exception, so that one bad file or schedule does not hide
the others. A diagnostic carries its source line, so `compiler.render` does not need the file.
"""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from tidegate.compiler.diagnostics.catalogue import CATALOGUE, Severity
from tidegate.compiler.diagnostics.of_rows import FoundRows, Mistake, RowsOfMistakes
from tidegate.domain.model import At
from tidegate.domain.value import Value

MAX_DIAGNOSTICS_PER_FILE = 100
"""More diagnostics in one file most likely have the same cause."""

MAX_COLLECTED_PER_FILE = 1_000
"""Further diagnostics are not collected, which bounds the cost of a file with many mistakes."""


class Related(Value, kw_only=True):
    """Another place of a diagnostic, such as the first of two equal keys."""

    at: At
    note: str


class Diagnostic(Value, kw_only=True):
    """One message.

    Attributes:
        code: key of the catalogue, for example "S104".
        end_column: the column after the last wrong character, on the line of `at`.
        summary: the rule and the value that breaks it.
        hint: what to write instead; "" where the language has nothing for it.
        source: the line of the file; "" if unknown.
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
        """Return the key that sorts diagnostics by file and place."""
        return (self.at.file, self.at.line, self.at.column, self.code, self.summary)


class Found(Value, kw_only=True):
    """What a collector has found, as a value that another one takes.

    Attributes:
        diagnostics: each with the mistake that it is about.
        named: what was found in other files, by file.
    """

    diagnostics: tuple[tuple[Mistake, Diagnostic], ...] = ()
    rows: FoundRows = FoundRows()
    named: dict[str, "Found"] = {}


def merged(found: Iterable[tuple[Diagnostic, str]]) -> tuple[Diagnostic, ...]:
    """Return diagnostics, of which a mistake of several rows of a template is one.

    Args:
        found: each with its row, or "".
    """
    rows, kept = RowsOfMistakes(), dict[tuple[str, Mistake], Diagnostic]()
    for each, row in found:
        mistake = rows.mistake(each.code, each.at.line, each.at.column, each.summary, row)
        kept.setdefault((each.at.file, mistake), each)
    return tuple(_said(each, rows, mistake) for (_, mistake), each in kept.items())


def _said(diagnostic: Diagnostic, rows: RowsOfMistakes, mistake: Mistake) -> Diagnostic:
    behind = rows.behind(mistake)
    return msgspec.structs.replace(diagnostic, summary=diagnostic.summary + behind) if behind else diagnostic


class Place(Protocol):
    """An object with a line and a column: a node or an `At`, perhaps with the row of its template."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class Findings:
    """The collector of the diagnostics of one file.

    Args:
        file: name of the file, as it is printed.
        text: the text of the file, for the printed lines.
        within: of a file that names this one: what is wrong here is wrong there too.
    """

    def __init__(self, file: str, text: str = "", within: "Findings | None" = None) -> None:
        self.file = file
        self._text = text
        self._lines: list[str] | None = None
        self._found: dict[Mistake, Diagnostic] = {}
        self._rows = RowsOfMistakes()
        self.errors = 0
        self._within = within
        self._named: dict[str, Findings] = {}

    def of_file(self, file: str, text: str) -> "Findings":
        """Return the collector of another file that this one names, which fails with it."""
        return self._named.setdefault(file, Findings(file, text, self))

    def add(
        self,
        code: str,
        place: Place,
        summary: str,
        hint: str,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Add a diagnostic, unless it is already there."""
        key = self._rows.mistake(code, place.line, place.column, summary, _row(place))
        if key in self._found or self.full:
            return
        source = self.line(place.line)
        self._count(CATALOGUE[code].severity)
        self._found[key] = Diagnostic(
            code=code,
            severity=CATALOGUE[code].severity,
            at=At(file=self.file, line=place.line, column=place.column),
            end_column=_end_column(place, source),
            summary=summary,
            hint=hint,
            source=source,
            related=related,
        )

    def found(self) -> Found:
        """Return what was found, for `take`."""
        named = {file: each.found() for file, each in self._named.items()}
        return Found(diagnostics=tuple(self._found.items()), rows=self._rows.found(), named=named)

    def take(self, found: Found) -> None:
        """Add what another collector has found in this file, unless it is already there."""
        for mistake, diagnostic in found.diagnostics:
            if mistake in self._found or self.full:
                continue
            self._count(diagnostic.severity)
            self._found[mistake] = diagnostic
        self._rows.take(found.rows)
        for file, each in found.named.items():
            self.of_file(file, "").take(each)

    def _count(self, severity: Severity) -> None:
        error = severity == "error"
        self.errors += error
        if self._within is not None:
            self._within.errors += error

    def repeats(self, code: str, place: Place) -> bool:
        """Return whether another row of a template has this mistake. A hint need not be searched again."""
        return self._rows.repeats(code, place.line, place.column, _row(place))

    def at(self, place: Place) -> At:
        """Return a place in this file as a value of the model."""
        return At(file=self.file, line=place.line, column=place.column, row=_row(place))

    @property
    def text(self) -> str:
        """The text of the file."""
        return self._text

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 1; "" for a line that does not exist."""
        if self._lines is None:
            self._lines = self._text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def text_at(self, place: Place) -> str:
        """Return the text of a value on one line as it is written; "" if its end is unknown."""
        end = getattr(place, "end_column", 0)
        return self.line(place.line)[place.column - 1 : end - 1] if end else ""

    @property
    def full(self) -> bool:
        """Whether no more diagnostics are collected. A builder then need not search for hints."""
        return len(self._found) >= MAX_COLLECTED_PER_FILE

    @property
    def failed(self) -> bool:
        """Whether an error was found; warnings do not count."""
        return self.errors > 0

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics by position; beyond the limit of a file, one with their number."""
        named = (diagnostic for each in self._named.values() for diagnostic in each.diagnostics())
        return (*self._own(), *named)

    def _own(self) -> tuple[Diagnostic, ...]:
        own = (_said(each, self._rows, mistake) for mistake, each in self._found.items())
        found = sorted(own, key=Diagnostic.sort_key)
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
            hint="fix the ones above first; they often cause later ones",
            source=last.source,
        )
        return (*shown, note)


def _row(place: Place) -> str:
    return getattr(place, "row", "")


def _end_column(place: Place, source: str) -> int:
    """Return the end column of a place, or of the word at it if the place has no end."""
    end = getattr(place, "end_column", None)
    if isinstance(end, int) and end > place.column:
        return end
    start = place.column - 1
    stop = start
    while stop < len(source) and (source[stop].isalnum() or source[stop] in "_-./"):
        stop += 1
    return max(stop, start + 1) + 1
