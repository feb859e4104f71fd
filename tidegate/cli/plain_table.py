"""A table as lines of text that fit into a terminal, or into `COLUMNS`; those in a pipe may be long.

What is too wide goes on in further lines of its cell, between words: an id is never broken. A table that does
not fit even so is printed as one line for each value.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import zip_longest
from typing import NamedTuple

BETWEEN, CLOSE = "   ", "  "
"""Between columns, and where space is short."""

RULE = "─"
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
LEFT_OUT = "…"

NARROWEST = 16
"""A column of prose is not made narrower."""

PHRASE_LINES = 2


class Fit(Enum):
    """How the values of a column get into less space."""

    WORDS = auto()
    """Their lines end between words."""
    PROSE = auto()
    """As words; those that are too long for a line are broken."""
    PHRASE = auto()
    """As prose, of which `PHRASE_LINES` are printed."""
    MIDDLE = auto()
    """Their middle is left out."""


class Heading(NamedTuple):
    """The head of a column.

    Attributes:
        right: its values are numbers.
    """

    title: str
    right: bool = False
    fit: Fit = Fit.WORDS


def lines_of(
    heads: Sequence[Heading], rows: Sequence[Sequence[str]], width: int | None, *, bold: bool = False
) -> Iterator[str]:
    """Yield the lines of a table.

    Args:
        width: of the lines, in the cells of a terminal; None for as wide as they are.
        bold: whether the names of columns are, by the codes of terminals.
    """
    emphasized: Callable[[str], str] = (lambda text: f"{BOLD}{text}{PLAIN}") if bold else str
    if not fits(heads, rows, width) and len(heads) > 2:
        yield from _records(heads, rows, width, emphasized)
        return
    between, widths = _widths(heads, rows, width)
    yield from _row(heads, [head.title for head in heads], widths, between, emphasized)
    yield RULE * (sum(widths) + len(between) * (len(widths) - 1))
    for row in rows:
        yield from _row(heads, row, widths, between, str)


def _row(
    heads: Sequence[Heading],
    row: Sequence[str],
    widths: Sequence[int],
    between: str,
    emphasized: Callable[[str], str],
) -> Iterator[str]:
    columns = list(zip(heads, widths, strict=True))
    cells = [_folded(text, width, head.fit) for text, (head, width) in zip(row, columns, strict=True)]
    for parts in zip_longest(*cells, fillvalue=""):
        aligned = [
            _aligned(part, width, head.right) for part, (head, width) in zip(parts, columns, strict=True)
        ]
        aligned[-1] = aligned[-1].rstrip()
        yield between.join(emphasized(part) if part else "" for part in aligned).rstrip()


def fits(heads: Sequence[Heading], rows: Sequence[Sequence[str]], width: int | None) -> bool:
    """Return whether a table can be printed in a width without a broken id."""
    gaps = len(heads) - 1
    return (
        width is None
        or sum(_wholes(heads, rows)) + len(BETWEEN) * gaps <= width
        or sum(_leasts(heads, rows)) + len(CLOSE) * gaps <= width
    )


def size(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def output() -> tuple[int | None, bool]:
    """Return the width of stdout, None for any, and whether it shows bold text."""
    given = os.environ.get("COLUMNS", "")
    columns = int(given) if given.isascii() and given.isdecimal() else 0
    if not sys.stdout.isatty():
        return columns or None, bool(os.environ.get("FORCE_COLOR"))
    if not columns:
        from shutil import get_terminal_size

        columns = get_terminal_size().columns
    return columns, os.environ.get("TERM", "") not in ("", "dumb", "unknown") and os.name != "nt"


def _columns(heads: Sequence[Heading], rows: Sequence[Sequence[str]]) -> Iterator[tuple[Heading, list[str]]]:
    for place, head in enumerate(heads):
        yield head, [head.title, *(row[place] for row in rows)]


def _wholes(heads: Sequence[Heading], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of the columns as they are."""
    return [max(map(size, cells)) for _, cells in _columns(heads, rows)]


def _leasts(heads: Sequence[Heading], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the least widths of the columns."""
    found = []
    for head, cells in _columns(heads, rows):
        words = cells if head.fit is Fit.MIDDLE else [word for cell in cells for word in cell.split()]
        longest = max(map(size, words), default=0)
        found.append(longest if head.fit is Fit.WORDS else min(longest, NARROWEST))
    return found


def _widths(
    heads: Sequence[Heading], rows: Sequence[Sequence[str]], width: int | None
) -> tuple[str, list[int]]:
    """Return what is between the columns, and their widths: the widest become narrower first."""
    wholes, gaps = _wholes(heads, rows), len(heads) - 1
    if width is None or sum(wholes) + len(BETWEEN) * gaps <= width:
        return BETWEEN, wholes
    space, leasts = width - len(CLOSE) * gaps, _leasts(heads, rows)
    most, widths = max(space, 0), wholes
    while sum(widths) > space and most:
        widths = [max(min(whole, most), least) for whole, least in zip(wholes, leasts, strict=True)]
        most -= 1
    for place, whole in enumerate(wholes):
        widths[place] = min(whole, widths[place] + max(space - sum(widths), 0))
    return CLOSE, widths


def _records(
    heads: Sequence[Heading],
    rows: Sequence[Sequence[str]],
    width: int | None,
    emphasized: Callable[[str], str],
) -> Iterator[str]:
    """Yield a line for each value: what it is, and the value."""
    label = max(size(head.title) for head in heads)
    space = None if width is None else max(width - label - len(CLOSE), NARROWEST)
    for number, row in enumerate(rows):
        if number:
            yield ""
        for head, text in zip(heads, row, strict=True):
            if not text:
                continue
            lines = _folded(text, space, Fit.WORDS if head.fit is Fit.MIDDLE else head.fit)
            for place, line in enumerate(lines):
                title = emphasized(_aligned("" if place else head.title, label, False))
                yield f"{title}{CLOSE}{line}".rstrip()


def _aligned(text: str, width: int, right: bool) -> str:
    space = " " * (width - size(text))
    return f"{space}{text}" if right else f"{text}{space}"


def _folded(text: str, width: int | None, fit: Fit) -> list[str]:
    """Return the lines of a cell, at least one."""
    if width is None or size(text) <= width:
        return [text]
    if fit is Fit.MIDDLE:
        return [_without_middle(text, width)]
    lines = list(_wrapped(text, width, breaks=fit is not Fit.WORDS))
    if fit is Fit.PHRASE and len(lines) > PHRASE_LINES:
        rest = " ".join(lines[PHRASE_LINES - 1 :])
        lines[PHRASE_LINES - 1 :] = [_begin(rest, width - size(LEFT_OUT)).rstrip() + LEFT_OUT]
    return lines


def _wrapped(text: str, width: int, *, breaks: bool) -> Iterator[str]:
    """Yield lines that end between words, and within a word that is longer than a line where it may break."""
    line = ""
    for word in text.split():
        if line and size(line) + 1 + size(word) > width:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
        while breaks and len(begin := _begin(line, width) or line[0]) < len(line):
            yield begin
            line = line[len(begin) :]
    yield line


def _without_middle(text: str, width: int) -> str:
    space = width - size(LEFT_OUT)
    end = _begin(text[::-1], space - space // 2)[::-1]
    return f"{_begin(text, space // 2)}{LEFT_OUT}{end}"


def _begin(text: Iterable[str], width: int) -> str:
    """Return as much of the beginning of a text as the width has room for."""
    begin = ""
    for character in text:
        if size(begin + character) > width:
            break
        begin += character
    return begin
