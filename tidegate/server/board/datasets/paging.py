"""Which cells of a calendar are on a page: as many blocks as have a bounded number of partitions. Pure.

    older ◄── blocks, the newest first, each whole ──► newer

A block that alone has too many partitions is cut: then a page has some cells of it, at least one.
"""

from calendar import monthrange
from collections.abc import Mapping
from re import ASCII, fullmatch

from tidegate.domain.model import TimeDimension
from tidegate.domain.value import Value
from tidegate.server.board.datasets.grid import Block, block_of, cell_after, cell_before, keys_of_cell

PARTITIONS_ON_PAGE = 2_000
"""The most partitions of the cells of a page; a store finds so many in a twentieth of a second."""

BLOCKS_ON_PAGE = 12

_UNTIL = r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:-(\d\d))?)?)?"


class Reach(Value, kw_only=True):
    """The first and the last cell that a calendar has."""

    first: str
    last: str


class Turned(Value, kw_only=True):
    """A page of a calendar.

    Attributes:
        keys: of time, of each cell of the page.
        older: the last cell of the page of older ones; None if there is none.
        newer: that of newer ones.
    """

    blocks: tuple[Block, ...]
    keys: dict[str, tuple[str, ...]]
    older: str | None
    newer: str | None


def last_cell(time: TimeDimension, until: str) -> str | None:
    """Return the last cell of a year, month, day or hour; None if the text is none of them."""
    parts = fullmatch(_UNTIL, until, ASCII)
    if parts is None:
        return None
    year, month = int(parts[1]), int(parts[2] or 12)
    if not year or not 1 <= month <= 12:
        return None
    last = monthrange(year, month)[1]
    day, hour = int(parts[3] or last), int(parts[4] or 23)
    if not 1 <= day <= last or hour > 23:
        return None
    text = f"{year:04}-{month:02}-{day:02}"
    return f"{text}-{hour:02}" if time.cycle == "minute" else text


def page_until(time: TimeDimension, parts: int, reach: Reach, until: str) -> Turned:
    """Return the page of a calendar that ends with a cell, or with the block of it.

    Args:
        parts: partitions of each key of time.
        until: a cell; one out of reach is moved into it.
    """
    until = min(max(until, reach.first), reach.last)
    last = block_of(time, until)
    newest, left = _taken(time, parts, last, PARTITIONS_ON_PAGE, "9")
    if len(newest) < len(last.cells()):
        until = max(until, last.cells()[0])
        return _part_of(time, reach, last, _taken(time, parts, last, PARTITIONS_ON_PAGE, until)[0])
    blocks, keys = [last], dict(newest)
    while len(blocks) < BLOCKS_ON_PAGE and _begin(blocks[-1]) > reach.first:
        block = block_of(time, cell_before(time, blocks[-1]))
        found, left = _taken(time, parts, block, left, "9")
        if len(found) < len(block.cells()):
            break
        blocks.append(block)
        keys |= found
    oldest = blocks[-1]
    return Turned(
        blocks=tuple(blocks),
        keys=keys,
        older=cell_before(time, oldest) if _begin(oldest) > reach.first else None,
        newer=_newer(time, reach, last, len(blocks)),
    )


def _newer(time: TimeDimension, reach: Reach, block: Block, blocks: int) -> str | None:
    """Return the last cell of the block that is some blocks later, or of the last one."""
    if block.cells()[-1] >= reach.last:
        return None
    for _ in range(blocks):
        block = block_of(time, cell_after(time, block))
        if block.cells()[-1] >= reach.last:
            break
    return block.cells()[-1]


def _part_of(time: TimeDimension, reach: Reach, block: Block, keys: Mapping[str, tuple[str, ...]]) -> Turned:
    """Return a page with some cells of a block."""
    cells, first, last = block.cells(), min(keys), max(keys)
    before = cells.index(first) - 1
    after = cells.index(last) + len(keys)
    older = cells[before] if before >= 0 else cell_before(time, block)
    newer = cells[min(after, len(cells) - 1)]
    if last == cells[-1]:
        newer = cell_after(time, block)
    return Turned(
        blocks=(block,),
        keys=dict(keys),
        older=older if first > reach.first else None,
        newer=newer if last < reach.last else None,
    )


def _taken(
    time: TimeDimension, parts: int, block: Block, left: int, until: str
) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the keys of the last cells of a block that are not too many, and what is left; of one at least.

    Args:
        until: no later cells.
    """
    found: dict[str, tuple[str, ...]] = {}
    for cell in reversed(block.cells()):
        if cell > until:
            continue
        keys = keys_of_cell(time, cell)
        if found and len(keys) * parts > left:
            break
        found[cell] = keys
        left -= len(keys) * parts
    return found, left


def _begin(block: Block) -> str:
    return block.cells()[0]
