"""The layout of the YAML: what `tidegate fmt` writes, block by block, with its comments.

Block by block: a mapping or list in lines is cut into its entries, each with the comments above it.

    leading comments, at the column of the key or left of it  ─┐
    key: value …                                               ├ one entry
      deeper lines, whatever they are                          ─┘

An entry moves as a whole, so no comment is lost. Flow values and texts in several lines are moved, and never
changed inside.

The order of keys in the language: that of the schema, for the app and for each kind of part. Names of parts
keep the order of the file, and so do triggers and constraints, whose kind comes first by habit.

Formats a file: the order of the language, two spaces for each level, and at most one empty line.

    bytes ──reader──► nodes ──► blocks in order ──reader──► the same content? ──► text
              └── errors: nothing is formatted

Comments stay with what they are above. The result is read again: a layout that would change the content in
any way is refused, and the file stays as it is.
"""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.reader.compose import read
from tidegate.compiler.reader.node import MappingNode, Node, SequenceNode, plain
from tidegate.compiler.schema import schema_text
from tidegate.domain.error import UserError

PARTS = {
    "datasets": "dataset",
    "programs": "program",
    "schedules": "schedule",
    "tasks": "task",
    "policies": "policy",
    "examples": "example",
}
"""The definition in the schema of what each section of an app holds."""

TEMPLATE = "template"

BEFORE = {
    "dataset": ("partitions", "format"),
    "schedule": ("for_each", "trigger"),
    "example": ("until", "expect"),
}
"""A key that comes right before another one, unlike in the schema: what a reader asks first."""

NO_ORDER: tuple[str, ...] = ()


def order_at(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the keys of the mapping at a path in their order; none where the file's order stays."""
    schema = _schema()
    if path == ():
        return tuple(schema["properties"])
    kind = _kind(path)
    if kind is None:
        return NO_ORDER
    keys = list(schema["$defs"][kind]["properties"])
    if kind in BEFORE:
        key, other = BEFORE[kind]
        keys.remove(key)
        keys.insert(keys.index(other), key)
    return tuple(keys)


def _kind(path: tuple[str | int, ...]) -> str | None:
    """Return the definition in the schema of the mapping at a path; None for one whose order stays."""
    match path:
        case ("templates", _):
            return TEMPLATE
        case ("defaults", str(section)) | ("templates", _, str(section), _):
            return PARTS.get(section)
        case (str(section), _):
            return PARTS.get(section)
        case _:
            return None


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schema_text())
    return found


INDENT = 2

Path = tuple[str | int, ...]


class Block(NamedTuple):
    """An entry in lines.

    Attributes:
        name: key of a mapping, or position in a list.
        first: index of its first line, a comment perhaps.
        head: index of the line with its key or dash.
        end: index behind its last line.
    """

    name: str | int
    node: Node
    first: int
    head: int
    end: int


def emitted(
    lines: list[str], node: MappingNode | SequenceNode, path: Path, start: int, end: int, column: int
) -> list[str]:
    """Return the lines of a block in the layout.

    Args:
        lines: of the file; the dashes of the items that are emitted become spaces.
        start, end: the lines of the block, with the comments above its first entry.
        column: where its keys or dashes begin, from 0.
    """
    blocks = list(_blocks(lines, node, start, end))
    if isinstance(node, MappingNode):
        blocks = _ordered(blocks, path)
    found: list[str] = []
    for block in blocks:
        found += _leading(lines[block.first : block.head], column, at_start=not found)
        found += _entry(lines, node, block, (*path, block.name), column)
    return found


def is_block(node: MappingNode | SequenceNode, lines: Sequence[str]) -> bool:
    """Return whether a mapping or list is in lines, each entry on a line of its own."""
    entries = node.keys.values() if isinstance(node, MappingNode) else node.items
    heads = [entry.line for entry in entries]
    opens = lines[node.line - 1][node.column - 1 : node.column]
    return bool(heads) and opens not in ("{", "[") and len(set(heads)) == len(heads)


def _ordered(blocks: list[Block], path: Path) -> list[Block]:
    order = {key: place for place, key in enumerate(order_at(path))}
    if not order:
        return blocks
    found = sorted(blocks, key=lambda block: order.get(str(block.name), len(order)))
    # In a list the first key is behind the dash, where no comment can be above it.
    in_list = bool(path) and isinstance(path[-1], int)
    return blocks if in_list and found[0].first != found[0].head else found


def _blocks(lines: Sequence[str], node: MappingNode | SequenceNode, start: int, end: int) -> Iterator[Block]:
    """Yield the entries of a block with their lines."""
    heads: list[tuple[str | int, Node, int]]
    if isinstance(node, MappingNode):
        heads = [(key, node.values[key], place.line - 1) for key, place in node.keys.items()]
    else:
        heads = [(at, item, _dash(lines, node, item)) for at, item in enumerate(node.items)]
    firsts = [
        start if at == 0 else _first(lines, head, node.column - 1) for at, (_, _, head) in enumerate(heads)
    ]
    for at, (name, value, head) in enumerate(heads):
        yield Block(name, value, firsts[at], head, firsts[at + 1] if at + 1 < len(heads) else end)


def _dash(lines: Sequence[str], node: SequenceNode, item: Node) -> int:
    """Return the line of an item's dash: its own, or one above it."""
    at = item.line - 1
    while lines[at][: node.column - 1].strip() or lines[at][node.column - 1 : node.column] != "-":
        at -= 1
    return at


def _first(lines: Sequence[str], head: int, column: int) -> int:
    """Return the first line of an entry: that of the comments above it which are not deeper."""
    first = head
    while first > 0 and _is_above(lines[first - 1], column):
        first -= 1
    return first


def _is_above(line: str, column: int) -> bool:
    text = line.strip()
    return not text or (text.startswith("#") and _indent(line) <= column)


def _leading(lines: Sequence[str], column: int, *, at_start: bool) -> Iterator[str]:
    """Yield comments at a column, with at most one empty line between them, and none at the start."""
    empty = at_start
    for line in lines:
        text = line.strip()
        if text or not empty:
            yield " " * column + text if text else ""
        empty = not text


def _entry(
    lines: list[str], parent: MappingNode | SequenceNode, block: Block, path: Path, column: int
) -> Iterator[str]:
    """Yield the lines of an entry without its leading comments."""
    old, node, head = parent.column - 1, block.node, lines[block.head]
    if isinstance(parent, SequenceNode):
        yield from _item(lines, block, path, column)
    elif (
        isinstance(node, MappingNode | SequenceNode) and is_block(node, lines) and node.line - 1 > block.head
    ):
        yield " " * column + head[old:].rstrip()
        yield from emitted(lines, node, path, block.head + 1, block.end, column + INDENT)
    else:
        yield from _moved(lines[block.head : block.end], column - old)


def _item(lines: list[str], block: Block, path: Path, column: int) -> Iterator[str]:
    """Yield the lines of an item of a list."""
    node, head = block.node, lines[block.head]
    dash = " " * column + "- "
    if node.line - 1 == block.head:
        # Behind its dash an item begins like any other block.
        before = node.column - 1
        lines[block.head] = " " * before + head[before:]
    if isinstance(node, MappingNode) and is_block(node, lines) and node.line - 1 == block.head:
        first, *others = emitted(lines, node, path, block.head, block.end, column + INDENT)
        yield dash + first.lstrip(" ")
        yield from others
    elif node.line - 1 == block.head and node.column - 1 < len(head):
        first, *others = _moved(lines[block.head : block.end], column + INDENT - (node.column - 1))
        yield dash + first.lstrip(" ")
        yield from others
    else:
        yield from _moved(lines[block.head : block.end], column - _indent(head))


def _moved(lines: Sequence[str], by: int) -> list[str]:
    """Return lines moved to the right, or to the left as far as there are spaces."""
    if len(lines) == 1:
        lines = [lines[0].rstrip()]
    return [_shifted(line, by) for line in lines]


def _shifted(line: str, by: int) -> str:
    if not line.strip():
        return line if by == 0 else line[:0]
    return " " * by + line if by >= 0 else line[min(-by, _indent(line)) :]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


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
