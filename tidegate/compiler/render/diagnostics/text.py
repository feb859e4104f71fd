"""Diagnostics as text for people.

    flights.yaml:12:14: error[S105]: `priority` must be low, normal or high, got "hihg"
       12 |     priority: hihg
          |               ^^^^
    hint: did you mean "high"?

Editors and CI systems can jump to the place in the first line.
"""

from collections.abc import Iterable

from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.domain.wording import one_line

MAX_LINE_CHARACTERS = 100
"""Of a longer source line, only the part around the place is printed."""

MARGIN_CHARACTERS = 30
"""Characters before the place in a cut line."""


def diagnostics_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Return all diagnostics, separated by empty lines, without a final line end."""
    return "\n\n".join(_one(diagnostic) for diagnostic in diagnostics)


def summary_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the numbers of diagnostics: "2 errors, 1 warning, 3 notes"; "" without diagnostics."""
    found = list(diagnostics)
    counts = [(sum(d.severity == s for d in found), s) for s in ("error", "warning", "note")]
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in counts if n)


def _one(diagnostic: Diagnostic) -> str:
    lines = [f"{diagnostic.at}: {diagnostic.severity}[{diagnostic.code}]: {diagnostic.summary}"]
    if diagnostic.source:
        lines.extend(_excerpt(diagnostic))
    lines.extend(f"{related.at}: note: {related.note}" for related in diagnostic.related)
    if diagnostic.hint:
        lines.append(f"hint: {diagnostic.hint}")
    return "\n".join(one_line(line) for line in lines)


def _excerpt(diagnostic: Diagnostic) -> list[str]:
    """Return the source line and the line with the carets."""
    source = "".join(c if c.isprintable() else "·" for c in diagnostic.source)
    start = diagnostic.at.column - 1
    width = max(1, min(diagnostic.end_column - diagnostic.at.column, len(source) - start))
    if len(source) > MAX_LINE_CHARACTERS:
        first = max(0, min(start - MARGIN_CHARACTERS, len(source) - MAX_LINE_CHARACTERS))
        cut = source[first : first + MAX_LINE_CHARACTERS]
        tail = "…" if first + MAX_LINE_CHARACTERS < len(source) else ""
        head = "…" if first else ""
        source, start = head + cut + tail, start - first + len(head)
        width = min(width, max(1, len(source) - start))
    number = str(diagnostic.at.line)
    margin = " " * max(5, len(number))
    return [f"{number:>{len(margin)}} | {source}", f"{margin} | {' ' * start}{'^' * width}"]
