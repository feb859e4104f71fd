"""An entry of the catalogue of diagnostics: the severity, the title and the explanation of a code."""

from typing import Literal

from tidegate.domain.value import Value

Severity = Literal["error", "warning", "note"]


class Entry(Value, kw_only=True):
    """One code.

    Attributes:
        title: the mistake in a few words.
        explanation: the rule, its reason, and how to fix the file.
    """

    title: str
    explanation: str
    severity: Severity = "error"


def error(title: str, explanation: str) -> Entry:
    """Return an error."""
    return Entry(title=title, explanation=explanation)


def warning(title: str, explanation: str) -> Entry:
    """Return a warning."""
    return Entry(title=title, explanation=explanation, severity="warning")


def note(title: str, explanation: str) -> Entry:
    """Return a note."""
    return Entry(title=title, explanation=explanation, severity="note")


FAMILIES = {
    "R": "Reading the file",
    "S": "Structure",
    "V": "Values",
    "N": "Names",
    "Q": "Queries of SQL programs",
    "L": "Rules between parts",
    "T": "Settings",
}
