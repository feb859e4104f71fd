"""The grid of a calendar: its cells, and which partitions each of them has. Pure.

    cycle of the dataset     cell        block       rows of a block
    minute                   an hour     a day       six hours each
    hour, day                a day       a month     weeks from Monday
    week                     a week      a year      the weeks that begin in a month
    month                    a month     a year      four months each
    year                     a year      a decade    five years each

A cell is named as the partitions in it begin: "2026-03-09", "2026-03-09-05" for an hour of minutes. So cells,
like keys, sort by their text.
"""

from calendar import Calendar
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from functools import lru_cache

import msgspec

from tidegate.domain.model import Cycle, PartitionScheme, TimeDimension
from tidegate.domain.partition_key import (
    PartitionKeyError,
    expected_keys,
    format_time_key,
    parse_time_key,
    start_of,
)
from tidegate.domain.time.cycle import DAYS_OF_WEEK
from tidegate.domain.value import Value

WEEKDAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HOURS, HOURS_IN_ROW = 24, 6
MONTHS_IN_ROW = 4
WEEKS_IN_MONTH = 5
YEARS, YEARS_IN_ROW = 10, 5

EARLIEST = "0002-01-01"
"""Before the first partition of any dataset; a day before it exists."""

DAYS_KEPT = 128
"""Days whose hours or minutes a process caches: searching a zone for each of them takes long."""

Cells = tuple[str | None, ...]
"""The cells of a row; None where the row has none."""


class Block(Value, kw_only=True):
    """A part of a calendar under one heading.

    Attributes:
        columns: their headings; none where the cells say it all.
        rows: each with its heading, or "".
    """

    name: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, Cells], ...]

    def cells(self) -> tuple[str, ...]:
        """Return the cells in order."""
        return tuple(cell for _, cells in self.rows for cell in cells if cell is not None)


def cell_of(time: TimeDimension, key: str) -> str:
    """Return the cell of a key of time."""
    return key[:13] if time.cycle == "minute" else key[:10]


def label_of(cycle: Cycle, cell: str) -> str:
    """Return the text of a cell."""
    if cycle == "minute":
        return cell[11:]
    if cycle == "month":
        return MONTHS[int(cell[5:7]) - 1]
    return cell[:4] if cycle == "year" else str(int(cell[8:10]))


def block_of(time: TimeDimension, cell: str) -> Block:
    """Return the block of a cell."""
    day = date.fromisoformat(cell[:10])
    match time.cycle:
        case "minute":
            hours = [f"{cell[:10]}-{hour:02}" for hour in range(HOURS)]
            return Block(name=cell[:10], rows=_rows(hours, HOURS_IN_ROW))
        case "hour" | "day":
            return _month(day)
        case "week":
            return _weeks(day.year, (DAYS_OF_WEEK.index(time.week_starts) - 1) % 7)
        case "month":
            months = [f"{day.year:04}-{month:02}-01" for month in range(1, 13)]
            return Block(name=f"{day.year:04}", rows=_rows(months, MONTHS_IN_ROW))
        case "year":
            first = day.year - day.year % YEARS
            years = [f"{year:04}-01-01" for year in range(max(first, 1), first + YEARS)]
            return Block(name=f"{first:04}s", rows=_rows(years, YEARS_IN_ROW))


def cell_before(time: TimeDimension, block: Block) -> str:
    """Return a cell of the block before one."""
    first = block.cells()[0]
    # The first week of a year begins up to six days after the year.
    before = date.fromisoformat(first[:10]) - timedelta(days=7 if time.cycle == "week" else 1)
    return _at(time, before, last=True)


def cell_after(time: TimeDimension, block: Block) -> str:
    """Return a cell of the block after one."""
    last = block.cells()[-1]
    days = {"week": 7, "month": 31, "year": 366}.get(time.cycle, 1)
    return _at(time, date.fromisoformat(last[:10]) + timedelta(days=days), last=False)


def keys_of_cell(time: TimeDimension, cell: str) -> tuple[str, ...]:
    """Return the keys of time that a cell has; none before the first one of the dataset."""
    if time.cycle in ("minute", "hour"):
        return _keys_of_day(time, cell[:10]).get(cell, ())
    try:
        parse_time_key(cell, time)
    except PartitionKeyError:
        return ()
    return (cell,)


@lru_cache(DAYS_KEPT)
def _keys_of_day(time: TimeDimension, day: str) -> Mapping[str, tuple[str, ...]]:
    """Return the hours or minutes of a day by cell."""
    try:
        keys = _regular(time, day) or expected_keys(PartitionScheme(time=time), "day", day)
    except PartitionKeyError:
        return {}
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(cell_of(time, key), []).append(key)
    return {cell: tuple(each) for cell, each in found.items()}


def _regular(time: TimeDimension, day: str) -> tuple[str, ...]:
    """Return the hours or minutes of a day on which no clock changes; none for another day."""
    whole = parse_time_key(day, msgspec.structs.replace(time, cycle="day", start=EARLIEST))
    if whole.end - whole.start != timedelta(hours=HOURS):
        return ()
    first = format_time_key(start_of(time), time)
    minutes = range(60) if time.cycle == "minute" else (0,)
    keys = (f"{day}-{hour:02}:{minute:02}" for hour in range(HOURS) for minute in minutes)
    return tuple(key for key in keys if key >= first)


def _at(time: TimeDimension, day: date, *, last: bool) -> str:
    text = day.isoformat()
    return f"{text}-{HOURS - 1 if last else 0:02}" if time.cycle == "minute" else text


def _month(day: date) -> Block:
    name = f"{day.year:04}-{day.month:02}"
    weeks = Calendar().monthdayscalendar(day.year, day.month)
    return Block(
        name=name,
        columns=WEEKDAYS,
        rows=tuple(("", tuple(f"{name}-{each:02}" if each else None for each in week)) for week in weeks),
    )


def _weeks(year: int, begins: int) -> Block:
    """Return the weeks that begin in a year on a day of the week, where Monday is 0."""
    rows: list[tuple[str, Cells]] = []
    for number, month in enumerate(MONTHS, 1):
        days = [days[begins] for days in Calendar().monthdayscalendar(year, number) if days[begins]]
        cells: list[str | None] = [f"{year:04}-{number:02}-{each:02}" for each in days]
        cells += [None] * (WEEKS_IN_MONTH - len(cells))
        rows.append((month, tuple(cells)))
    return Block(name=f"{year:04}", rows=tuple(rows))


def _rows(cells: Iterable[str], size: int) -> tuple[tuple[str, Cells], ...]:
    every = tuple(cells)
    return tuple(("", every[start : start + size]) for start in range(0, len(every), size))
