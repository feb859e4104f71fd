"""Wall clocks: instants without a zone are refused, and the end of a gap is found to the second."""

from datetime import UTC, datetime

import pytest

from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.wall_clock import gap_end, wall_time

NAIVE = datetime(2026, 3, 8)


def test_a_naive_instant_is_refused():
    with pytest.raises(ValueError, match="needs a time zone"):
        wall_time(NAIVE, "UTC")
    with pytest.raises(ValueError, match="needs a time zone"):
        list(clock_changes("UTC", NAIVE, NAIVE.replace(tzinfo=UTC)))


@pytest.mark.parametrize("microsecond", [0, 1, 500_000, 999_999])
@pytest.mark.parametrize(("minute", "second"), [(0, 0), (0, 1), (30, 0), (59, 59)])
def test_the_end_of_a_gap_from_wherever_in_it(minute, second, microsecond):
    wall = datetime(2026, 3, 8, 2, minute, second, microsecond)
    assert gap_end(wall, "America/New_York") == datetime(2026, 3, 8, 7, tzinfo=UTC)
