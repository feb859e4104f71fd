"""Periods of a dataset with partitions: their parts, their deadlines, and which one is judged next. Pure."""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import Cycle
from tidegate.domain.model.dataset import TimeDimension
from tidegate.domain.partition_key import (
    expected_keys,
    format_time_key,
    parse_time_key,
    period_before,
    split_key,
    start_of,
    validate_key,
)
from tidegate.domain.time.cycle import period_of, truncate
from tidegate.scheduler.decision.deadlines import first_clock
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

CATCH_UP_PERIODS_MAX = 1_000
"""The most periods of one dataset that are judged after a downtime; of more, the newest."""

LENGTHS: dict[Cycle, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}
"""About how long a period of each cycle is."""


def period_in(data: ExpectedData, key: str) -> str | None:
    """Return the period to which a partition of a dataset belongs; None for a key that it does not have."""
    if data.partitions is None or validate_key(data.partitions, key) is not None:
        return None
    return split_key(data.partitions, key)[_time(data).name]


def missing(data: ExpectedData, period: ExpectedPeriod, due: datetime) -> tuple[str, ...]:
    """Return the partitions of a period that had not landed at an instant."""
    assert data.partitions is not None, "it has periods"
    return tuple(
        key
        for key in expected_keys(data.partitions, _time(data).cycle, period.period)
        if (at := period.landed.get(key)) is None or at > due
    )


def is_over(data: ExpectedData, period: str) -> bool:
    """Return whether a period was judged already, or ended before it was expected."""
    time = _time(data)
    return parse_time_key(period, time).start < parse_time_key(data.period, time).start


def with_deadline(data: ExpectedData) -> ExpectedData:
    """Return the same dataset, with the deadline of its next period."""
    deadline, end = data.deadline, parse_time_key(data.period, _time(data)).end
    if deadline.by is not None:
        return msgspec.structs.replace(data, due_at=first_clock(deadline.by, data.zone, end))
    return msgspec.structs.replace(data, due_at=end + (deadline.within or timedelta(0)))


def first_period(data: ExpectedData, now: datetime) -> str:
    """Return the first period that ends after an instant."""
    time = _time(data)
    current = period_of(now, time.cycle, time.timezone, time.week_starts)
    return format_time_key(max(current.start, start_of(time)), time)


def first_open(data: ExpectedData, now: datetime) -> ExpectedData:
    """Return the same dataset, with the earliest period that is expected and whose deadline is to come."""
    time = _time(data)
    found = with_deadline(msgspec.structs.replace(data, period=first_period(data, now)))
    for _ in range(CATCH_UP_PERIODS_MAX):
        end = parse_time_key(found.period, time).start
        if end <= max(data.since, start_of(time)):
            return found
        before = with_deadline(msgspec.structs.replace(data, period=period_before(end, time)))
        if before.due_at is None or before.due_at <= now:
            return found
        found = before
    return found


def following(data: ExpectedData) -> ExpectedData:
    """Return the same dataset, with the period after its next one."""
    time = _time(data)
    after = parse_time_key(data.period, time).end
    return with_deadline(msgspec.structs.replace(data, period=format_time_key(after, time)))


def next_period(data: ExpectedData, now: datetime) -> str:
    """Return the period after the one that was judged at an instant."""
    time = _time(data)
    following = parse_time_key(data.period, time).end
    oldest = now - CATCH_UP_PERIODS_MAX * LENGTHS[time.cycle]
    if following < oldest:
        following = truncate(oldest, time.cycle, time.timezone, time.week_starts)
    return format_time_key(following, time)


def _time(data: ExpectedData) -> TimeDimension:
    assert data.partitions is not None and data.partitions.time is not None, "it has periods"
    return data.partitions.time
