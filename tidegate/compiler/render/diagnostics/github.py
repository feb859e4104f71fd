"""Diagnostics as workflow commands of GitHub Actions, which shows them beside the lines of a change.

The format and its escapes are those of the page "Workflow commands" of GitHub's documentation.
"""

from collections.abc import Iterable

from tidegate.compiler.diagnostics.diagnostic import Diagnostic

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def diagnostics_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a line for each diagnostic; columns count from 1."""
    return "\n".join(_line(each) for each in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    properties: dict[str, str | int] = {
        "file": diagnostic.at.file,
        "line": diagnostic.at.line,
        "col": diagnostic.at.column,
        "endColumn": diagnostic.end_column,
        "title": diagnostic.code,
    }
    given = ",".join(f"{name}={_escaped(str(value), _PROPERTY)}" for name, value in properties.items())
    message = "\n".join(part for part in (diagnostic.summary, diagnostic.hint) if part)
    return f"::{COMMANDS[diagnostic.severity]} {given}::{_escaped(message, _DATA)}"


def _escaped(text: str, characters: dict[str, str]) -> str:
    return "".join(characters.get(each, each) for each in text)
