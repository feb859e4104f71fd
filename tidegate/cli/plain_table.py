"""A table whose cells fit into the width, as rich would print it, in a hundredth of its time.

Where a cell must be folded, or is wider or narrower than its number of characters, rich prints it.
"""

import os
import sys
from collections.abc import Sequence
from shutil import get_terminal_size

BETWEEN = "   "
RULE = "─"
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"

PIPE_COLUMNS = 200
"""Width of a table that is not written to a terminal: long lines, so that grep finds whole rows."""


def plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str], width: int, *, bold: bool
) -> str | None:
    """Return the lines of a table; None if it does not fit, or has cells that are not plain text.

    Args:
        right: the columns of numbers.
        width: of the lines, in characters.
        bold: whether the names of columns are, by the codes of terminals.
    """
    whole = [columns, *rows]
    if not columns or not all(_is_plain(cell) for row in whole for cell in row):
        return None
    widths = [max(map(len, cells)) for cells in zip(*whole, strict=True)]
    length = sum(widths) + len(BETWEEN) * (len(columns) - 1)
    if length > width:
        return None
    signs = [">" if column in right else "<" for column in columns]
    lines = [
        BETWEEN.join(f"{cell:{sign}{size}}" for cell, sign, size in zip(row, signs, widths, strict=True))
        for row in whole
    ]
    head = BETWEEN.join(
        f"{BOLD}{column:{sign}{size}}{PLAIN}" if bold else f"{column:{sign}{size}}"
        for column, sign, size in zip(columns, signs, widths, strict=True)
    )
    return "\n".join([head, RULE * length, *lines[1:]])


def _is_plain(cell: str) -> bool:
    return cell.isascii() and cell.isprintable() and cell == cell.strip()


def output() -> tuple[int, bool] | None:
    """Return the width of stdout and whether it shows bold text; None where only rich knows."""
    if any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE")) or os.name == "nt":
        return None
    if not sys.stdout.isatty():
        return PIPE_COLUMNS, False
    return get_terminal_size().columns, os.environ.get("TERM", "") not in ("", "dumb", "unknown")
