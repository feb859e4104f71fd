"""The catalogue of diagnostics as Markdown: the text of docs/diagnostics.md."""

from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.entry import FAMILIES
from tidegate.compiler.diagnostics.remedies import REMEDIES

_INTRODUCTION = (
    "# Diagnostics",
    "",
    "Every message of `tidegate lint` and `tidegate plan` has one of these codes. Errors stop a deployment.",
    "Warnings do not, but `tidegate lint --strict` fails on them. Notes never stop anything. This page is",
    "rendered from `tidegate/compiler/diagnostics/`, and `tidegate explain CODE` prints one of them.",
)

_TABLE_HEAD = ("| code | severity | title | explanation | what to do |", "|---|---|---|---|---|")


def catalogue_markdown() -> str:
    """Return the whole document, with a table for each family of codes."""
    lines = [*_INTRODUCTION]
    for letter, family in FAMILIES.items():
        lines += ["", f"## {letter}: {family}", "", *_TABLE_HEAD]
        for code, entry in CATALOGUE.items():
            if code.startswith(letter):
                cells = (code, entry.severity, entry.title, entry.explanation, REMEDIES[code])
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
