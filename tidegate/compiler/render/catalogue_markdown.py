"""The catalogue of diagnostics as Markdown: the text of docs/diagnostics.md."""

from tidegate.compiler.diagnostics.catalogue import CATALOGUE

_FAMILIES = {
    "R": "Reading the file",
    "S": "The shape of what was read",
    "V": "Values",
    "N": "Names",
    "L": "What schedules mean together",
}

_INTRODUCTION = (
    "# Diagnostics",
    "",
    "Every message of `tidegate lint` and `tidegate plan` has one of these codes. Errors stop a deployment,",
    "warnings do not (`tidegate lint --strict` makes them), and notes never do. This page is rendered from",
    "`tidegate/compiler/diagnostics/catalogue.py`.",
)

_TABLE_HEAD = ("| code | severity | rule | why, and what to do |", "|---|---|---|---|")


def catalogue_markdown() -> str:
    """The whole document, a table for each family of codes."""
    lines = [*_INTRODUCTION]
    for letter, family in _FAMILIES.items():
        lines += ["", f"## {letter}: {family}", "", *_TABLE_HEAD]
        for code, entry in CATALOGUE.items():
            if code.startswith(letter):
                lines.append(f"| {code} | {entry.severity} | {entry.title} | {entry.explanation} |")
    return "\n".join(lines) + "\n"
