"""Diagnostics as JSON for tools: a list of objects, in the order of the files and places."""

from collections.abc import Iterable
from typing import Any

from tidegate.compiler.diagnostics.diagnostic import Diagnostic


def diagnostics_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return an object for each diagnostic; lines and columns count from 1, `end_column` is exclusive."""
    return [
        {
            "code": d.code,
            "severity": d.severity,
            "file": d.at.file,
            "line": d.at.line,
            "column": d.at.column,
            "end_column": d.end_column,
            "summary": d.summary,
            "hint": d.hint,
            "related": [
                {"file": r.at.file, "line": r.at.line, "column": r.at.column, "note": r.note}
                for r in d.related
            ],
        }
        for d in diagnostics
    ]
