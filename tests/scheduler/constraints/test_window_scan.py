"""The window against a scan of every minute around the clock changes of twenty zones."""

from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.effort import much
from tests.scheduler.constraints.naive_window import cases, naive_open
from tidegate.domain.model import WindowConstraint
from tidegate.scheduler.decision.constraints.window import CALENDAR_DAYS_AHEAD, DAYS_AHEAD, is_open, opening

MINUTE = timedelta(minutes=1)
SCAN = timedelta(hours=60)


@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_openings_equal_a_scan_minute_by_minute(case):
    assert_equal_to_a_scan(*case)


@pytest.mark.endurance  # Hundreds of scans of sixty hours each.
@settings(max_examples=much(60), deadline=None)
@given(case=cases())
def test_openings_equal_a_scan_minute_by_minute_in_many_cases(case):
    assert_equal_to_a_scan(*case)


def assert_equal_to_a_scan(given_window: WindowConstraint, moment: datetime) -> None:
    # given the minutes after a moment, and whether the window is open in each
    first = moment.replace(second=0, microsecond=0)
    scan = [first + n * MINUTE for n in range(SCAN // MINUTE)]
    naive = [naive_open(given_window, instant) for instant in scan]
    # then it is open in those alone
    assert [is_open(given_window, instant) for instant in scan] == naive
    # and wherever it is closed, the next minute in which it is open is its opening
    closed = [n for n, is_inside in enumerate(naive) if not is_inside]
    for number in closed[:: max(1, len(closed) // 5)]:
        after = scan[number] + (moment - first)
        expected = next((scan[n] for n in range(number + 1, len(scan)) if naive[n]), None)
        found = opening(given_window, after)
        assert found == expected if expected is not None else found > scan[-1]


@settings(max_examples=80, deadline=None)
@given(case=cases())
def test_an_opening_is_the_first_instant_inside(case):
    given_window, moment = case
    if is_open(given_window, moment):
        return
    found = opening(given_window, moment)
    horizon = DAYS_AHEAD if given_window.calendar is None else CALENDAR_DAYS_AHEAD
    assert moment < found <= moment + timedelta(days=horizon + 2)
    if found != moment + timedelta(days=horizon):
        assert is_open(given_window, found)
        assert not is_open(given_window, found - timedelta(microseconds=1))
    # Asking again on the way gives the same answer.
    between = moment + (found - moment) / 2
    if not is_open(given_window, between) and is_open(given_window, found):
        assert opening(given_window, between) == found


class Waiting(RuleBasedStateMachine):
    """A job that waits for a window: a clock that only goes on, by any step or to the next check."""

    @initialize(case=cases())
    def begin(self, case):
        self.window, self.now = case

    @rule(seconds=st.one_of(st.integers(1, 59), st.integers(60, 6 * 3600)))
    def time_passes(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule()
    def the_job_is_checked_when_it_was_told(self):
        assume(not is_open(self.window, self.now))
        before, self.now = self.now, opening(self.window, self.now)
        # No minute in which the window was open was slept through.
        minute = before.replace(second=0, microsecond=0) + MINUTE
        end = min(self.now, minute + SCAN)
        while minute < end:
            assert not naive_open(self.window, minute)
            minute += MINUTE

    @rule()
    def the_job_is_checked_too_early(self):
        assume(not is_open(self.window, self.now))
        following = opening(self.window, self.now)
        halfway = self.now + (following - self.now) / 2
        if is_open(self.window, following):
            assert not is_open(self.window, halfway)
            assert opening(self.window, halfway) == following
        self.now = halfway

    @invariant()
    def it_is_open_when_the_wall_says_so(self):
        if hasattr(self, "now"):
            minute = self.now.replace(second=0, microsecond=0)
            assert is_open(self.window, self.now) == naive_open(self.window, minute)


TestWaiting = Waiting.TestCase
TestWaiting.settings = settings(max_examples=25, stateful_step_count=10, deadline=None)
