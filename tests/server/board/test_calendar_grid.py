"""The grid of a calendar: cells have the keys of the dataset, and its pages have each cell once."""

from datetime import date, timedelta

import pytest

from tidegate.domain.model import Cycle, PartitionScheme, TimeDimension
from tidegate.domain.partition_key import PartitionKeyError, expected_keys
from tidegate.server.board.datasets.grid import block_of, cell_of, keys_of_cell
from tidegate.server.board.datasets.paging import PARTITIONS_ON_PAGE, Reach, page_until

pytestmark = pytest.mark.slow  # a server on a real store

CYCLES: list[Cycle] = ["minute", "hour", "day", "week", "month", "year"]


def dimension(cycle: Cycle, **fields: str) -> TimeDimension:
    return TimeDimension(name=cycle, cycle=cycle, start=fields.pop("start", "2011-01-01"), **fields)


@pytest.mark.parametrize("cycle", ["minute", "hour"])
@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("America/New_York", "2011-11-06"),
        ("America/New_York", "2011-03-13"),
        ("Australia/Lord_Howe", "2011-10-02"),
        ("Australia/Lord_Howe", "2011-04-03"),
        ("Antarctica/Troll", "2011-10-30"),
        ("Pacific/Apia", "2011-12-30"),
        ("America/Sao_Paulo", "2011-10-16"),
    ],
)
def test_the_cells_of_a_day_have_all_its_keys_where_clocks_change(cycle: Cycle, zone: str, day: str):
    time = dimension(cycle, timezone=zone)
    for around in (-1, 0, 1):
        shown = (date.fromisoformat(day) + timedelta(days=around)).isoformat()
        try:
            expected = expected_keys(PartitionScheme(time=time), "day", shown)
        except PartitionKeyError:
            expected = ()  # the date line was moved
        cells = [cell for cell in block_of(time, f"{shown}-00").cells() if cell.startswith(shown)]
        found = [key for cell in cells for key in keys_of_cell(time, cell)]
        assert sorted(found) == sorted(expected), shown


@pytest.mark.parametrize("cycle", CYCLES)
def test_keys_begin_with_their_cell_and_no_cell_has_keys_before_the_start(cycle: Cycle):
    time = dimension(cycle, start="2020-01-01", week_starts="wed")
    block = block_of(time, "2020-01-01-00" if cycle == "minute" else "2020-01-01")
    for cell in block.cells():
        assert all(cell_of(time, key) == cell for key in keys_of_cell(time, cell))
    assert keys_of_cell(time, block_of(time, "2020-01-01").cells()[0])
    assert not keys_of_cell(time, "2019-01-01-00" if cycle == "minute" else "2019-01-01")


def reach_of(time: TimeDimension) -> Reach:
    """A calendar of many pages, whose last cell is not the last one of its block."""
    last = {"minute": "2011-02-03-07", "hour": "2011-06-09", "day": "2013-06-09"}.get(
        time.cycle, "2040-01-01"
    )
    return Reach(first=block_of(time, "2011-01-02-00").cells()[0], last=last)


@pytest.mark.parametrize("parts", [1, 90])
@pytest.mark.parametrize("cycle", CYCLES)
def test_older_pages_have_every_cell_once(cycle: Cycle, parts: int):
    time = dimension(cycle)
    reach = reach_of(time)
    last = reach.last
    seen: list[str] = []
    until: str | None = reach.last
    pages = 0
    while until is not None:
        page = page_until(time, parts, reach, until)
        number = sum(len(keys) for keys in page.keys.values()) * parts
        assert number <= PARTITIONS_ON_PAGE or len(page.keys) == 1
        seen += page.keys
        assert pages < 1_000
        until, pages = page.older, pages + 1
    assert len(seen) == len(set(seen))
    begun, block = [cell for cell in seen if cell <= last], block_of(time, reach.first)
    assert max(begun) == last or cycle == "week"
    assert min(seen) == block.cells()[0]
    days = {(b := block_of(time, cell)).name: b for cell in seen}
    assert set(seen) >= {cell for each in days.values() for cell in each.cells() if cell <= last}


@pytest.mark.parametrize("parts", [1, 90])
@pytest.mark.parametrize("cycle", CYCLES)
def test_newer_pages_lead_to_the_last_cell(cycle: Cycle, parts: int):
    time = dimension(cycle)
    reach = reach_of(time)
    last = reach.last
    until: str | None = reach.first
    seen: list[str] = []
    pages = 0
    while until is not None:
        page = page_until(time, parts, reach, until)
        assert not seen or max(page.keys) > max(seen)
        seen, until, pages = [*seen, *page.keys], page.newer, pages + 1
        assert pages < 1_000
    in_reach = [cell for cell in block_of(time, last).cells() if cell <= last]
    assert not in_reach or max(in_reach) in seen
