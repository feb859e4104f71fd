"""`rate`: at most so many launches of the program within any span of its length (rule 18)."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worlds.job_view_of import SECOND, Q, job_view_of
from tests.worlds.world import at
from tidegate.domain.model import RateConstraint
from tidegate.scheduler.decision.constraints.rate import check

HOUR = timedelta(hours=1)


def rate(most: int, per: timedelta = HOUR) -> RateConstraint:
    return RateConstraint(max=most, per=per)


ROWS = [
    ("no launch before", 1, (), "10:00", True, None),
    ("one that has just been launched", 1, ("10:00",), "10:00", False, "11:00"),
    ("a second before its hour is over", 1, ("10:00",), "10:59:59", False, "11:00"),
    ("at exactly an hour after it is free again", 1, ("10:00",), "11:00", True, None),
    ("one of two", 2, ("09:30",), "10:00", True, None),
    ("two of two: the older one goes first", 2, ("09:30", "09:50"), "10:00", False, "10:30"),
    ("the older one has gone", 2, ("09:30", "09:50"), "10:30", True, None),
    ("it slides, and does not begin again at the full hour", 2, ("09:58", "09:59"), "10:01", False, "10:58"),
    ("more than allowed, by hand: so many must go", 2, ("09:10", "09:20", "09:30"), "10:00", False, "10:20"),
    ("two at one instant", 2, ("09:30", "09:30"), "10:00", False, "10:30"),
    ("a launch yet to come does not count", 1, ("10:01",), "10:00", True, None),
]


@pytest.mark.parametrize(
    ("sentence", "most", "launches", "now", "met", "check_at"), ROWS, ids=[row[0] for row in ROWS]
)
def test_a_rate_per_hour(sentence, most, launches, now, met, check_at):
    verdict = check(rate(most), job_view_of(launches=tuple(map(at, launches))), at(now))
    assert verdict.met is met
    assert verdict.next_check == (None if check_at is None else at(check_at))
    assert verdict.blocked_on == (None if met else Q)


def test_the_summary_counts_and_says_when_it_goes_on():
    view = job_view_of(launches=(at("09:30"), at("09:50")))
    assert check(rate(3), view, at("10:00")).summary == "2 of 3 launches of q within 1:00:00"
    assert check(rate(2), view, at("10:00")).summary == (
        "2 of 2 launches of q within 1:00:00; the next one at 2026-03-10T10:30:00+00:00"
    )


seconds = st.integers(0, 600)


def in_any_span(launches: list[datetime], per: timedelta) -> int:
    """The most launches in any half-open span of this length: by brute force, one that begins at each."""
    return max((sum(a <= b < a + per for b in launches) for a in launches), default=0)


@given(arrivals=st.lists(seconds, max_size=30), most=st.integers(1, 4), per=st.integers(1, 200))
def test_who_launches_only_when_it_holds_never_exceeds_it(arrivals, most, per):
    constraint = rate(most, timedelta(seconds=per))
    launches: list[datetime] = []
    for second in sorted(arrivals):
        now = at("10:00") + second * SECOND
        if check(constraint, job_view_of(launches=tuple(launches)), now).met:
            launches.append(now)
    assert in_any_span(launches, constraint.per) <= most


@given(arrivals=st.lists(seconds, min_size=1, max_size=30), most=st.integers(1, 4), per=st.integers(1, 200))
def test_its_next_check_is_the_first_instant_at_which_it_holds(arrivals, most, per):
    constraint = rate(most, timedelta(seconds=per))
    view = job_view_of(launches=tuple(at("10:00") + second * SECOND for second in sorted(arrivals)))
    now = view.launches[-1]
    verdict = check(constraint, view, now)
    brute = next(n for n in range(per + 1) if check(constraint, view, now + n * SECOND).met)
    assert (verdict.next_check or now) == now + brute * SECOND
