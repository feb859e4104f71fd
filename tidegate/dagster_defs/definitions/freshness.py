"""Deadlines as Dagster's freshness policies, where a cron can say the same.

    by "08:00" after each day        0 8 * * *, and what came since the end of the day counts
    within 20m of each hour          20 * * * *, and what came since the end of the hour counts
    within 2d, without periods       at most two days old

A deadline that a cron cannot say, such as one longer than its period, is judged by the engine alone: an alert
`late` has nothing to do with Dagster. Pure but for Dagster's values.
"""

from collections.abc import Iterable
from datetime import timedelta

from dagster import FreshnessPolicy

from tidegate.domain.model import Dataset, Deadline, Schedule, TimeDimension

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

_PERIODS = {"hour": _HOUR, "day": 23 * _HOUR, "week": 7 * _DAY - _HOUR, "month": 28 * _DAY - _HOUR}
"""The shortest period of each cycle, with a clock that is put forward in it. Minutes are below what Dagster
resolves, and a year is above."""

_CRON_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}


def freshness_of(dataset: Dataset, writers: Iterable[Schedule] = ()) -> FreshnessPolicy | None:
    """Return the policy of a dataset's deadline; None without one, or where Dagster cannot say it.

    Args:
        writers: the schedules whose runs write it; their deadlines count where it has none of its own. They
            are about its partitions if they wait `for_each` of the same cycle, in the same zone.
    """
    time = None if dataset.partitions is None else dataset.partitions.time
    if dataset.deadline is not None:
        return _policy(dataset.deadline, time)
    if time is None:
        return None
    found = (_policy(each.deadline, time) for each in writers if each.deadline and _is_about(each, time))
    return next((policy for policy in found if policy is not None), None)


def _is_about(schedule: Schedule, time: TimeDimension) -> bool:
    """Return whether each period of a dimension has to be written by the schedule's deadline, a wall time."""
    same = schedule.for_each == time.cycle and schedule.timezone == time.timezone
    return same and schedule.deadline is not None and schedule.deadline.by is not None


def _policy(deadline: Deadline, time: TimeDimension | None) -> FreshnessPolicy | None:
    if time is None:
        within = deadline.within
        return None if within is None else FreshnessPolicy.time_window(max(within, _MINUTE))
    period = _PERIODS.get(time.cycle)
    if period is None:
        return None
    if deadline.by is not None:
        after = timedelta(hours=deadline.by.hour, minutes=deadline.by.minute)
    else:
        after = _whole_minutes(deadline.within or timedelta(0))
        if after >= period:
            return None
    daily = time.cycle == "hour" and deadline.by is not None
    cron = _cron(after, "day" if daily else time.cycle, time)
    # The last hour that ends by then; of longer periods the end is at midnight.
    since = after % _HOUR if daily else after
    return FreshnessPolicy.cron(cron, since or period, time.timezone)


def _whole_minutes(span: timedelta) -> timedelta:
    return -(-span // _MINUTE) * _MINUTE


def _cron(after: timedelta, cycle: str, time: TimeDimension) -> str:
    """Return the cron of an instant after the begin of each period, which is the end of the one before."""
    days, minutes = after.days, after.seconds // 60
    minute, hour = minutes % 60, minutes // 60
    if cycle == "hour":
        return f"{minute} * * * *"
    if cycle == "day":
        return f"{minute} {hour} * * *"
    if cycle == "week":
        return f"{minute} {hour} * * {(_CRON_DAYS[time.week_starts] + days) % 7}"
    return f"{minute} {hour} {1 + days} * *"
