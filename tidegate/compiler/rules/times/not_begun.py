"""The rule that what a run writes has begun: the zone of its outputs is not too far behind its own.

A business date is carried to days and longer partitions as it reads. Just after midnight in India the hour
that has ended there is of a day that begins in UTC five hours later, and Dagster has no partition of a day
that has not begun. The day before has begun everywhere, but for zones more than 24 hours apart.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from functools import lru_cache

import msgspec

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.business_date import is_by_the_clock
from tidegate.domain.model import Dataset, Program, Schedule, TaskTrigger, TimeDimension, leaves
from tidegate.domain.tasks.grid import slots_of_day
from tidegate.domain.tasks.key import business_date
from tidegate.domain.time.cron import parse
from tidegate.domain.time.natural_time import steady_offset
from tidegate.domain.time.wall_clock import first_instant

LOOKED_AT = tuple(date(2024, 1, 1) + timedelta(days=n) for n in range(366))
"""A year, with both offsets of each zone."""

_DAY = timedelta(days=1)

Start = tuple[date, datetime]
"""A business date, and the instant at which a run writes it."""


def check_task_begun(task: TaskTrigger, datasets: Iterable[Dataset], place: Place, scope: Scope) -> None:
    """Report each output of which an instance would write a day before it begins."""
    always = msgspec.structs.replace(task, enabled=True, valid_from=None, valid_to=None, calendar=None)
    for dataset, dimension in _by_days(datasets):
        days = _sample_days(task.timezone, dimension.timezone)
        _check(dataset, dimension, (start for day in days for start in _of_task(always, day)), place, scope)


def check_schedule_begun(schedule: Schedule, program: Program, place: Place, scope: Scope) -> None:
    """Report each output of which a run would write a day before it begins."""
    if schedule.output_partition not in ("business_date", "business_day"):
        return
    crons = [cron for leaf in leaves(schedule.trigger) if (cron := leaf.trigger.wall_clock) is not None]
    zones = {cron.timezone: tuple(_times(cron.cron)) for cron in crons} or {schedule.timezone: (time(),)}
    for dataset, dimension in _by_days(program.outputs(scope.datasets)):
        for zone, times in zones.items():
            days = _sample_days(zone, dimension.timezone)
            _check(dataset, dimension, _of_times(zone, times, scope.day_starts, days), place, scope)


def _by_days(datasets: Iterable[Dataset]) -> Iterator[tuple[Dataset, TimeDimension]]:
    """Yield the datasets to which a business date is carried as it reads, with their zones."""
    for dataset in datasets:
        scheme = dataset.partitions
        if scheme is not None and scheme.time is not None and not is_by_the_clock(scheme):
            yield dataset, scheme.time


def _check(
    dataset: Dataset, dimension: TimeDimension, starts: Iterable[Start], place: Place, scope: Scope
) -> None:
    for day, start in starts:
        begin = first_instant(datetime(day.year, day.month, day.day), dimension.timezone)
        if begin > start:
            scope.findings.add(
                "L404",
                place,
                f"the day that a run writes has begun in the zone of its outputs, got {dataset.name} in"
                f" {dimension.timezone}, where {day} begins {_text(begin - start)} after its run",
                "choose one `timezone` for both, or a later time",
            )
            return


def _text(late: timedelta) -> str:
    hours, minutes = divmod(late // timedelta(minutes=1), 60)
    return " ".join(f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m")) if number)


def _of_task(task: TaskTrigger, day: date) -> Iterator[Start]:
    for slot in slots_of_day(task, day):
        yield date.fromisoformat(business_date(task, slot.scheduled)[:10]), slot.start


def _of_times(zone: str, times: tuple[time, ...], day_starts: time, days: Iterable[date]) -> Iterator[Start]:
    for day in days:
        for at in times:
            about = day - (2 * _DAY if at < day_starts else _DAY)
            yield about, first_instant(datetime.combine(day, at), zone)


def _times(cron: str) -> Iterator[time]:
    pattern = parse(cron)
    return (time(hour, pattern.minutes[0]) for hour in pattern.hours)


@lru_cache(maxsize=1024)
def _sample_days(zone: str, other: str) -> tuple[date, ...]:
    """Return a day for each pair of offsets of two zones in which days of the first begin earlier."""
    found: dict[tuple[timedelta, timedelta], date] = {}
    for day in LOOKED_AT if zone != other else ():
        here, there = steady_offset(zone, day), steady_offset(other, day)
        if here is not None and there is not None and here > there:
            found.setdefault((here, there), day)
    return tuple(found.values())
