"""The days of a task of a day or longer: on which it does something, and which business date each is about.

    scheduled    the day of the scheduled time
    counted      that day, or the day before if the start time is before `day_starts` of the app
    business     the day before the counted one, or the last business day before it

With `previous_business_day` several days are about one business date: Saturday, Sunday and Monday are about
Friday. In a backfill one of them is, the first one that is not an empty run. Tasks of hours and minutes are
not here: their business dates are elapsed time.
"""

from calendar import monthrange
from datetime import date, time, timedelta
from typing import assert_never

from tidegate.domain.model import TaskTrigger
from tidegate.domain.model.triggers.task import LAST_DAY
from tidegate.domain.time.calendar import (
    DAY_NAMES,
    WEEKDAYS,
    is_business_day,
    next_business_day,
    previous_business_day,
)

_DAY = timedelta(days=1)
_NO_DAYS = timedelta(0)


def has_instances(task: TaskTrigger, day: date) -> bool:
    """Return whether a task is enabled and valid on a day."""
    return (
        task.enabled
        and (task.valid_from is None or task.valid_from <= day)
        and (task.valid_to is None or day <= task.valid_to)
    )


def is_real(task: TaskTrigger, day: date) -> bool:
    """Return whether a day is one of the task's, and so its instance not an empty run."""
    if task.calendar is not None and not is_business_day(task.calendar, day):
        return False
    times = task.times
    match task.cycle:
        case "week":
            return DAY_NAMES[day.weekday()] in times.weekdays
        case "month":
            is_last = day.day == monthrange(day.year, day.month)[1]
            return day.day in times.days or (is_last and LAST_DAY in times.days)
        case "year":
            return (day.month, day.day) in times.dates
        case "day" | "hour" | "minute":
            return True
        case _:
            assert_never(task.cycle)


def date_of_day(task: TaskTrigger, day: date) -> date:
    """Return the business date of the instance whose scheduled time is on a day."""
    counted = day - _before(task)
    return previous_business_day(task.calendar, counted) if task.previous_business_day else counted - _DAY


def day_of_date(task: TaskTrigger, business: date) -> date | None:
    """Return the day of the instance that is about a business date; None for what is not a business day.

    Of several days it is the first one on which the task does something, else the last one.
    """
    first = business + _DAY + _before(task)
    if not task.previous_business_day:
        return first
    if not is_business_day(task.calendar or WEEKDAYS, business):
        return None
    last = next_business_day(task.calendar, business) + _before(task)
    days = (first + n * _DAY for n in range((last - first).days + 1))
    return next((day for day in days if has_instances(task, day) and is_real(task, day)), last)


def last_day_about(task: TaskTrigger, business: date) -> date:
    """Return the last day whose instance is about a business date, or about one before it."""
    if task.previous_business_day:
        return next_business_day(task.calendar, business) + _before(task)
    return business + _DAY + _before(task)


def is_moved(task: TaskTrigger) -> bool:
    """Return whether the business date of a day is not always the day before it."""
    return task.previous_business_day or bool(_before(task))


def _before(task: TaskTrigger) -> timedelta:
    """Return how many days before its scheduled time the day of an instance is: one or none."""
    start = time(task.times.time // 60, task.times.time % 60)
    return _DAY if start < task.day_starts else _NO_DAYS
