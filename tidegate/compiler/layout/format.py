"""Formats a file: the order of the language, two spaces for each level, and at most one empty line.

    bytes ──reader──► nodes ──► blocks in order ──reader──► the same content? ──► text
              └── errors: nothing is formatted

Comments stay with what they are above. The result is read again: a layout that would change the content in
any way is refused, and the file stays as it is.
"""

from collections.abc import Sequence

from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.layout.blocks import emitted, is_block
from tidegate.compiler.reader.compose import read
from tidegate.compiler.reader.node import MappingNode, plain
from tidegate.domain.error import UserError

PASSES_MAX = 5
"""A comment that moves may open an empty line that a second pass removes."""


class NotFormatted(UserError):
    """A file whose layout cannot be changed without changing its content."""


def format_file(file: str, data: bytes) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the formatted text of a file, or None and what is wrong with it.

    Raises:
        NotFormatted: the layout would change what the file says.
    """
    node, diagnostics = _read(file, data)
    if node is None:
        return None, diagnostics
    text = data.decode("utf-8").replace("\r\n", "\n")
    for _ in range(PASSES_MAX):
        formatted = _formatted(text, node)
        again, _ = _read(file, formatted.encode())
        if again is None or plain(again) != plain(node):
            raise NotFormatted(
                f"{file} cannot be formatted without changing what it says",
                "write its long texts and lists in the usual form, each key on a line of its own",
            )
        if formatted == text:
            return text, ()
        text, node = formatted, again
    raise NotFormatted(f"{file} does not come to rest", "report it with the file")


def _read(file: str, data: bytes) -> tuple[MappingNode | None, tuple[Diagnostic, ...]]:
    node, findings = read(file, data)
    errors = tuple(each for each in findings.diagnostics() if each.severity == "error")
    return (None if errors else node), errors


def _formatted(text: str, node: MappingNode) -> str:
    lines = text.split("\n")
    if not is_block(node, lines):
        return text.rstrip() + "\n"
    header = min(key.line for key in node.keys.values()) - 1
    footer = _footer(lines)
    body = emitted(lines, node, (), header, footer, 0)
    return "\n".join(_tidied([*_outside(lines[:header]), *body, *_outside(lines[footer:])])) + "\n"


def _footer(lines: Sequence[str]) -> int:
    """Return the index of the comments behind the last entry, which stay at the end."""
    at = len(lines)
    while at > 0 and (not lines[at - 1].strip() or lines[at - 1].startswith("#")):
        at -= 1
    return at


def _outside(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines]


def _tidied(lines: list[str]) -> list[str]:
    """Return lines without empty ones at the start and at the end."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
