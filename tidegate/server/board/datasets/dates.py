"""The page of a dataset with dates: which cells are shown, what is read of them, and what is late."""

from datetime import datetime

from tidegate.domain.model import Dataset, TimeDimension
from tidegate.domain.partition_key import format_time_key
from tidegate.domain.value import Value
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, ExpectedData
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.board.datasets.calendar import Cell, Expectation, Filled, Keys, States, cell, filled
from tidegate.server.board.datasets.grid import block_of, cell_of, keys_of_cell
from tidegate.server.board.datasets.paging import Reach, Turned, last_cell, page_until
from tidegate.server.board.datasets.partitions import Listed, listed
from tidegate.server.problem import Problem


class Wanted(Value, kw_only=True):
    """What a page is asked for.

    Attributes:
        until: the last year, month, day or hour of the calendar; "" for now.
        period: the cell whose partitions are listed; "" for those of all cells.
        row: place of the first partition that is listed.
    """

    until: str = ""
    period: str = ""
    row: int = 0


class Calendar(Value, kw_only=True):
    """The calendar of a dataset with dates.

    Attributes:
        cycle: of the partitions.
        until: as it was asked for.
        period: the cell whose partitions are listed; None for those of all cells.
        first: the first partition (key of time) that has landed; "" before that.
        last: the last one.
        older, newer: `until` of the page of older cells, and of newer ones.
        blocks: the newest first.
    """

    cycle: str
    until: str
    period: Cell | None
    first: str
    last: str
    older: str | None
    newer: str | None
    blocks: tuple[Filled, ...]


def dated(
    reader: ListingReader, name: str, dataset: Dataset, wanted: Wanted, now: datetime
) -> tuple[Calendar | None, Listed]:
    """Return the calendar of a dataset with dates, and the partitions to list; no calendar before any landed.

    Args:
        name: "app/dataset".

    Raises:
        Problem: 400, what is wanted is not a period of this calendar.
    """
    scheme = dataset.partitions
    assert scheme is not None and scheme.time is not None, "it has dates"
    time, keys = scheme.time, Keys(scheme, scheme.time)
    period, until = _checked(time, wanted)
    found = {keys.time_of(key) for ends in reader.partition_ends(name, keys.prefixes()) for key in ends}
    landed = sorted(key for key in found if last_cell(time, key[:10]) is not None)
    current = format_time_key(now, time)
    data = record(reader, EXPECTED_DATA, dataset=name) if dataset.deadline is not None else None
    expectation = _expectation(time, landed, current, data, deadline=dataset.deadline is not None)
    begins = landed[:1] if expectation.since is None else [*landed[:1], expectation.since]
    if not begins:
        return None, Listed(parts=(), landed=0)
    reach = Reach(
        first=block_of(time, cell_of(time, min(begins))).cells()[0],
        last=max(cell_of(time, each) for each in (*landed, current)),
    )
    turned = _turned(time, keys, reach, landed, until, period)
    shown = tuple(key for time_key in _newest_first(turned) for key in keys.of(time_key))
    of_period = keys_of_cell(time, period)
    chosen = tuple(key for time_key in of_period for key in keys.of(time_key))
    states = {each.key: each for each in reader.partition_states(name, {*shown, *chosen})}
    parts = listed(reader, name, chosen if period else shown, states, wanted.row, missing=bool(period))
    return _calendar(turned, keys, states, expectation, wanted, of_period, landed), parts


def _checked(time: TimeDimension, wanted: Wanted) -> tuple[str, str]:
    """Return the period and the last cell that are wanted, or "" for each."""
    until = last_cell(time, wanted.until) if wanted.until else ""
    if until is None:
        raise Problem(
            400, f"until has the unknown value {wanted.until!r:.100}", hint="2026, 2026-03, 2026-03-09"
        )
    if wanted.period:
        known = last_cell(time, wanted.period) == wanted.period
        if not known or wanted.period not in block_of(time, wanted.period).cells():
            raise Problem(400, f"period has the unknown value {wanted.period!r:.100}", hint="that of a cell")
    return wanted.period, until


def _expectation(
    time: TimeDimension, landed: list[str], current: str, data: ExpectedData | None, *, deadline: bool
) -> Expectation:
    if deadline:
        if data is None or data.partitions is None or data.partitions.time != time:
            return Expectation()
        return Expectation(since=format_time_key(data.since, time), before=data.period, whole=True)
    # Keys of another cycle, which the dataset had once, say nothing of this one.
    same = landed and (":" in landed[0]) == (":" in current)
    return Expectation(after=landed[0] if same else None, before=current)


def _turned(
    time: TimeDimension, keys: Keys, reach: Reach, landed: list[str], until: str, period: str
) -> Turned:
    """Return the page that is asked for, or else the newest one with something that has landed.

    Where the wanted period is not on it, it is the one that ends with that period.
    """
    turned = page_until(time, keys.parts, reach, until or reach.last)
    if not until and landed and cell_of(time, landed[-1]) < min(turned.keys):
        turned = page_until(time, keys.parts, reach, cell_of(time, landed[-1]))
    if period and period not in turned.keys:
        turned = page_until(time, keys.parts, reach, period)
    return turned


def _newest_first(turned: Turned) -> list[str]:
    return [key for cell in sorted(turned.keys, reverse=True) for key in reversed(turned.keys[cell])]


def _calendar(
    turned: Turned,
    keys: Keys,
    states: States,
    expectation: Expectation,
    wanted: Wanted,
    of_period: tuple[str, ...],
    landed: list[str],
) -> Calendar:
    return Calendar(
        cycle=keys.time.cycle,
        until=wanted.until,
        period=cell(wanted.period, of_period, keys, states, expectation) if wanted.period else None,
        first=landed[0] if landed else "",
        last=landed[-1] if landed else "",
        older=turned.older,
        newer=turned.newer,
        blocks=filled(turned, keys, states, expectation),
    )
