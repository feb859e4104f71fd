"""What the YAML parser complains of, as a diagnostic with the place and what to look for there."""

from typing import Any

import yaml

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import At
from tidegate.domain.wording import shown

MAX_SHOWN_REST = 20
"""Quoted characters of the text at which the parser stopped."""


class MarkPlace:
    """A mark of the parser, which counts from 0, as a place."""

    __slots__ = ("column", "line")

    def __init__(self, mark: Any) -> None:
        self.line: int = mark.line + 1
        self.column: int = mark.column + 1


def report_syntax(findings: Findings, error: yaml.YAMLError) -> None:
    """Report the parser's own complaint, with its place."""
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = MarkPlace(mark) if mark is not None else At(file=findings.file, line=1, column=1)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    context, begun = getattr(error, "context", None), getattr(error, "context_mark", None)
    related = (
        (Related(at=findings.at(MarkPlace(begun)), note=f"{context} that begins here"),)
        if context and begun
        else ()
    )
    rest = findings.line(place.line)[place.column - 1 :].strip()[:MAX_SHOWN_REST]
    end = "the end of the line" if findings.line(place.line + 1) else "the end of the file"
    got = shown(rest) if rest else end
    findings.add(
        "R106", place, f"this is not YAML: {problem}, got {got}", _syntax_hint(str(problem), rest), related
    )


def _syntax_hint(problem: str, rest: str) -> str:
    if rest.startswith(("{each.", "{env.")):
        return "within braces and brackets write it in quotes; without them, the value on a line of its own"
    if "mapping values are not allowed" in problem:
        return "look for a missing line end or wrong indentation, or quote a value that contains a colon"
    if "cannot start any token" in problem:
        return "quote the value: @, ` and % cannot begin a plain one"
    if "block end" in problem or "expected key" in problem:
        return "look at the indentation here and in the line above"
    return "look for a missing quote, bracket or colon here or in the line above"
