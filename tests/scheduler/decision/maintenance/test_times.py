"""The next run of an operation, the ends of its pauses, and the grid of polls."""

from datetime import UTC, datetime, time, timedelta

import pytest

from tests.worlds.operations import DAY, HOUR, MINUTE, plan
from tests.worlds.world import at
from tidegate.domain.model import MaintenanceBackOff, Throttle, WindowConstraint
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.model.maintenance import OperationHistory


@pytest.mark.parametrize(
    ("sentence", "what", "expected"),
    [
        ("without either it is once a day", {}, "1d 10:00"),
        ("an interval counts from the start", {"interval": 3 * HOUR}, "13:00"),
        ("a cron fires next after the start", {"cron": "30 10 * * *"}, "10:30"),
        ("a fire at the very start is over", {"cron": "0 10 * * *"}, "1d 10:00"),
    ],
)
def test_the_next_run_is_the_one_after_the_start(sentence, what, expected):
    assert times.next_run(plan(**what), at("10:00")) == at(expected), sentence


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("sentence", "start", "expected"),
    [
        ("in winter 2:30 in New York is 7:30", "2026-03-06T07:30", "2026-03-07T07:30"),
        ("in the night without 2:30 it is at the end of the gap", "2026-03-07T07:30", "2026-03-08T07:00"),
        ("in summer it is 6:30", "2026-03-08T07:00", "2026-03-09T06:30"),
        ("in the night with 1:30 twice a fixed time fires once", "2026-10-31T06:30", "2026-11-01T07:30"),
    ],
)
def test_a_cron_follows_the_clock_of_its_zone(sentence, start, expected):
    daily = plan(cron="30 2 * * *", timezone="America/New_York")
    assert times.next_run(daily, utc(start)) == utc(expected), sentence


@pytest.mark.parametrize(
    ("failures", "after", "expected"),
    [(2, 3, None), (3, 3, "16:00"), (4, 3, "16:00"), (1, 1, "16:00"), (0, 1, None)],
)
def test_back_off_counts_from_the_start_of_the_newest_failure(failures, after, expected):
    rule = MaintenanceBackOff(after_failures=after, for_=6 * HOUR)
    failed = OperationHistory(failures=failures, failed_start=at("10:00") if failures else None)
    assert times.backed_off_until(rule, failed) == (None if expected is None else at(expected))


@pytest.mark.parametrize(
    ("sentence", "what", "rule", "expected"),
    [
        ("half as slow again", {"interval": 10 * HOUR}, Throttle(), "1d 01:00"),
        ("at least six hours", {"interval": HOUR}, Throttle(), "16:00"),
        ("half as slow again as once a day", {}, Throttle(), "1d 22:00"),
        ("another percentage", {"interval": 10 * HOUR}, Throttle(slow_down_percent=15), "21:30"),
        ("no slower, and no shorter pause", {}, Throttle(slow_down_percent=0, at_least=HOUR), "1d 10:00"),
        ("the first fire at least six hours later", {"cron": "15 * * * *"}, Throttle(), "16:15"),
        ("a fire at the very end of the six hours", {"cron": "0 */2 * * *"}, Throttle(), "16:00"),
        ("a daily fire", {"cron": "0 9 * * *"}, Throttle(), "1d 09:00"),
    ],
)
def test_throttle_counts_from_the_start_of_the_newest_run_without_change(sentence, what, rule, expected):
    same = OperationHistory(zero_changes=5, zero_start=at("10:00"))
    assert times.throttled_until(rule, plan(**what), same) == at(expected), sentence


@pytest.mark.parametrize(
    ("zero_changes", "after", "throttled"), [(4, 5, False), (5, 5, True), (6, 5, True), (0, 1, False)]
)
def test_throttle_begins_after_so_many_runs_without_change(zero_changes, after, throttled):
    same = OperationHistory(zero_changes=zero_changes, zero_start=at("10:00") if zero_changes else None)
    found = times.throttled_until(Throttle(after_zero_changes=after), plan(interval=HOUR), same)
    assert (found is not None) is throttled


NIGHT = WindowConstraint(from_=time(2), to=time(6))


@pytest.mark.parametrize(
    ("window", "clock", "expected"),
    [
        (None, "10:00", None),
        (NIGHT, "01:59:59", "02:00"),
        (NIGHT, "02:00", None),
        (NIGHT, "05:59:59", None),
        (NIGHT, "06:00", "1d 02:00"),
        (WindowConstraint(from_=time(22), to=time(2), days=("tue",)), "1d 01:00", None),
        (WindowConstraint(from_=time(22), to=time(2), days=("tue",)), "01:00", "22:00"),
    ],
)
def test_a_window_opens(window, clock, expected):
    assert times.opening(plan(window=window), at(clock)) == (None if expected is None else at(expected))


@pytest.mark.parametrize(
    ("clock", "expected"), [("10:00", "11:00"), ("10:59:59", "11:00"), ("23:01", "1d 00:00")]
)
def test_the_bytes_of_an_hour_are_counted_until_the_next_full_one(clock, expected):
    assert times.next_hour(at(clock)) == at(expected)


@pytest.mark.parametrize(
    ("clock", "following", "last"),
    [
        ("09:59", "10:00:30", "10:00:30"),
        ("10:00:30", "10:00:30", "10:00:30"),
        ("10:00:31", "10:05:30", "10:00:30"),
        ("10:05:29", "10:05:30", "10:00:30"),
        ("10:05:30", "10:05:30", "10:05:30"),
        ("1d 10:00:00", "1d 10:00:30", "1d 09:55:30"),
    ],
)
def test_polls_are_at_whole_multiples_from_the_origin(clock, following, last):
    origin, poll = at("10:00:30"), 5 * MINUTE
    assert times.poll_at_or_after(origin, poll, at(clock)) == at(following)
    assert times.last_poll(origin, poll, at(clock)) == at(last)


def test_a_poll_of_any_length_keeps_its_grid():
    origin = at("00:00")
    for poll in (timedelta(seconds=1), timedelta(seconds=7), 90 * MINUTE, DAY):
        for minutes in range(0, 3000, 37):
            instant = origin + minutes * MINUTE
            following, last = (f(origin, poll, instant) for f in (times.poll_at_or_after, times.last_poll))
            assert last <= instant <= following < instant + poll
            assert (following - origin) % poll == (last - origin) % poll == timedelta(0)
