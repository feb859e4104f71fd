"""Holes: scheduled times of a task that have no instance, since nothing made them in time (docs/cycles.md).

A scheduler that is away for longer than `catch_up_at_most` leaves days out, and a task has none before it is
deployed. Times are compared by their names, so a change of the zone makes no hole. Pure.
"""

from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.grid import Slot, count_of_day, slots_of_day
from tidegate.domain.tasks.key import business_date, last_day_of, local_day, scheduled_key
from tidegate.domain.tasks.select import Choice
from tidegate.domain.value import Value

_DAY = timedelta(days=1)


class Hole(Value, kw_only=True):
    """Scheduled times of a task that have no instance, without empty runs.

    Attributes:
        first, last: their names.
        missing: how many there are.
        after: the name of the instance before them, of a task that waits for its own; else "".
    """

    first: str
    last: str
    missing: int
    after: str = ""


class Named(Value, kw_only=True):
    """A scheduled time with its name."""

    scheduled: datetime
    key: str


def hole_between(task: TaskTrigger, before: Named, current: Named) -> Hole | None:
    """Return the hole between two instances of a task; None if they follow each other."""
    days = (date.fromisoformat(each.key[:10]) for each in (before, current))
    names = [
        name
        for slot, name in _named(task, *days)
        if before.scheduled < slot.scheduled < current.scheduled and before.key < name < current.key
    ]
    return _hole(names, before.key)


def left_out(task: TaskTrigger, made: date, oldest: datetime) -> Hole | None:
    """Return what a task leaves out after an absence.

    Args:
        made: the last day that it had made.
        oldest: earlier scheduled times are left out.
    """
    last = local_day(task, oldest)
    if last <= made:
        return None
    partly = [(slot, name) for slot, name in _named(task, last, last) if slot.scheduled < oldest]
    counts = [(day, count_of_day(task, day)) for day in _days(made + _DAY, last - _DAY)]
    whole = [day for day, count in counts if count]
    missing = sum(count for _, count in counts) + len(partly)
    if not missing:
        return None
    ends = [name for day in (*whole[:1], *whole[-1:]) for _, name in _named(task, day, day)]
    ends += [name for _, name in partly]
    return Hole(first=ends[0], last=ends[-1], missing=missing)


def expected_names(task: TaskTrigger, choice: Choice) -> list[str]:
    """Return the names of the scheduled times that a task has where a dependency looks, valid or not."""
    always = msgspec.structs.replace(task, valid_from=None, valid_to=None)
    if choice.dates is not None:
        first, last = choice.dates
        return [
            name
            for slot, name in _named(always, first, last_day_of(task, last))
            if first.isoformat() <= business_date(task, slot.scheduled)[:10] <= last.isoformat()
        ]
    start, end = choice.container.start, choice.container.end
    named = _named(always, local_day(task, start), local_day(task, end))
    return [name for slot, name in named if start <= slot.scheduled < end]


def missing_of(names: Collection[str], found: Collection[str]) -> Hole | None:
    """Return the hole of those names, in order, that were not found."""
    return _hole([name for name in names if name not in found], "")


def _hole(names: list[str], after: str) -> Hole | None:
    return Hole(first=names[0], last=names[-1], missing=len(names), after=after) if names else None


def _named(task: TaskTrigger, first: date, last: date) -> Iterator[tuple[Slot, str]]:
    for day in _days(first, last):
        for slot in slots_of_day(task, day):
            if not slot.empty:
                yield slot, scheduled_key(task, slot.scheduled)


def _days(first: date, last: date) -> Iterator[date]:
    return (first + number * _DAY for number in range((last - first).days + 1))
