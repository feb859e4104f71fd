"""Diagnostics as SARIF 2.1.0, which code hosts and editors show beside the lines (OASIS standard, 2020)."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.domain.model import At

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def diagnostics_sarif(diagnostics: Iterable[Diagnostic], version: str | None) -> dict[str, Any]:
    """Return a log with one run; lines and columns count from 1, and columns count characters.

    Args:
        version: of Tidegate; None where it is not installed.
    """
    found = list(diagnostics)
    codes = sorted({each.code for each in found})
    driver: dict[str, Any] = {"name": "tidegate", "rules": [_rule(code) for code in codes]}
    if version is not None:
        driver["version"] = version
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(each, codes.index(each.code)) for each in found],
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code}
    entry = CATALOGUE.get(code)
    if entry is not None:
        rule |= {
            "shortDescription": {"text": entry.title},
            "fullDescription": {"text": entry.explanation},
            "defaultConfiguration": {"level": entry.severity},
        }
    return rule


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    parts = (diagnostic.summary, diagnostic.hint)
    found: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": "\n".join(part for part in parts if part)},
        "locations": [_location(diagnostic.at, diagnostic.end_column)],
    }
    if diagnostic.related:
        found["relatedLocations"] = [
            {**_location(each.at), "message": {"text": each.note}} for each in diagnostic.related
        ]
    return found


def _location(at: At, end_column: int | None = None) -> dict[str, Any]:
    region = {"startLine": at.line, "startColumn": at.column}
    if end_column is not None:
        region["endColumn"] = end_column
    uri = quote(at.file.replace("\\", "/"))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
