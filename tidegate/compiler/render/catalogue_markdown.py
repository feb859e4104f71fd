"""The catalogue of diagnostics as Markdown: the text of docs/diagnostics.md."""

from tidegate.compiler.diagnostics.catalogue import CATALOGUE

_FAMILIES = {
    "R": "Reading the file",
    "S": "Structure",
    "V": "Values",
    "N": "Names",
    "L": "Rules between parts",
}

_INTRODUCTION = (
    "# Diagnostics",
    "",
    "Every message of `tidegate lint` and `tidegate plan` has one of these codes. Errors stop a deployment.",
    "Warnings do not, but `tidegate lint --strict` fails on them. Notes never stop anything. This page is",
    "rendered from `tidegate/compiler/diagnostics/catalogue.py`.",
)

_TABLE_HEAD = ("| code | severity | title | explanation |", "|---|---|---|---|")


def catalogue_markdown() -> str:
    """Return the whole document, with a table for each family of codes."""
    lines = [*_INTRODUCTION]
    for letter, family in _FAMILIES.items():
        lines += ["", f"## {letter}: {family}", "", *_TABLE_HEAD]
        for code, entry in CATALOGUE.items():
            if code.startswith(letter):
                lines.append(f"| {code} | {entry.severity} | {entry.title} | {entry.explanation} |")
    return "\n".join(lines) + "\n"
