"""Rules on codes: a diagnostic or a reason is in its catalogue, in the docs and in a golden file."""

import ast
import re
from collections.abc import Collection, Iterator

from tests.tidy.finding import Finding, Source
from tidegate.compiler.diagnostics.entry import FAMILIES

CATALOGUE_FILE = "tidegate/compiler/diagnostics/catalogue.py"
REASON_FILE = "tidegate/scheduler/model/reason.py"
REFUSAL_FILE = "tidegate/scheduler/model/refused.py"

DIAGNOSTIC = re.compile(rf"[{''.join(FAMILIES)}]\d{{3}}")
REASON = re.compile(r"[WMDLFE]-[A-Z]+(-[A-Z]+)*")


def check_codes(source: Source, diagnostics: Collection[str], reasons: Collection[str]) -> Iterator[Finding]:
    """Codes written in a file that their catalogues do not have."""
    for node in source.nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if DIAGNOSTIC.fullmatch(node.value) and node.value not in diagnostics:
            yield source.finding(
                node.lineno,
                f"diagnostic {node.value} has no entry in {CATALOGUE_FILE}",
            )
        if REASON.fullmatch(node.value) and node.value not in reasons:
            yield source.finding(
                node.lineno, f"reason {node.value} is not in {REASON_FILE} or {REFUSAL_FILE}"
            )


def check_catalogue(codes: Collection[str], path: str, text: str) -> Iterator[Finding]:
    """Codes of a catalogue that a text, for example a page of the docs, does not mention."""
    for code in codes:
        if re.search(rf"(?<![\w-]){re.escape(code)}(?![\w-])", text) is None:
            yield Finding(path=path, line=1, message=f"{code} is missing")
