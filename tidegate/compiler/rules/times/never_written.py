"""The rule that the run after a business day comes: with weekdays only, Friday is never written.

A run that writes the business date writes the day before the day of its fire. A cron of Monday to Friday, or
of business days, has no fire on Saturday, so nothing writes Friday, and Monday's run writes Sunday.
"""

from collections.abc import Iterator
from datetime import date, time, timedelta
from functools import lru_cache

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Program, Schedule, WallClock, leaves
from tidegate.domain.time.calendar import WEEKDAYS, is_business_day
from tidegate.domain.time.cron import parse
from tidegate.domain.time.fire_times import fires_on

LOOKED_AT = tuple(date(2024, 1, 1) + timedelta(days=n) for n in range(2 * 366))
"""Two years, in which each month has its first day on several days of the week."""

_DAY = timedelta(days=1)


def check_never_written(schedule: Schedule, program: Program, place: Place, scope: Scope) -> None:
    """Warn where no fire is about a business day, of outputs with a partition for each day."""
    if schedule.output_partition != "business_date" or not _writes_days(program, scope):
        return
    found = [
        (cron, leaf.trigger.at) for leaf in leaves(schedule.trigger) if (cron := leaf.trigger.wall_clock)
    ]
    crons = tuple(cron for cron, _ in found)
    for cron, at in found:
        day = _left_out(cron, crons) if _is_restricted(cron) else None
        if day is not None:
            days = "Monday to Friday" if cron.calendar is None else f'calendar "{cron.calendar.name}"'
            scope.findings.add(
                "L423",
                at or place,
                f"a run writes the day before its fire, got a cron that never writes {day:%A}, {day}, a"
                f" business day of {days}",
                "write `output_partition: business_day`: the last business day before the fire",
            )
            return


def _writes_days(program: Program, scope: Scope) -> bool:
    times = [scheme.time for scheme in program.schemes(scope.datasets)]
    return bool(times) and all(time is not None and time.cycle == "day" for time in times)


def _is_restricted(cron: WallClock) -> bool:
    """Return whether a cron fires on some days of the week only, or on those of a calendar."""
    return cron.calendar is not None or len(parse(cron.cron).weekdays) < 7


@lru_cache(maxsize=1024)
def _left_out(cron: WallClock, crons: tuple[WallClock, ...]) -> date | None:
    """Return the first business day of a cron about which no fire of any of some crons is."""
    business = cron.calendar or WEEKDAYS
    days = (day for day in LOOKED_AT if is_business_day(business, day))
    return next((day for day in days if not any(_is_about(each, day) for each in crons)), None)


def _is_about(cron: WallClock, day: date) -> bool:
    """Return whether a fire of a cron has a day as its business date, without regard to clock changes."""
    return any(fires_on(cron, day + ahead) for ahead in _ahead(cron))


def _ahead(cron: WallClock) -> Iterator[timedelta]:
    """Yield how long after its business date a cron fires: two days where its day begins after its time."""
    pattern = parse(cron.cron)
    times = [time(hour, minute) for hour in pattern.hours for minute in pattern.minutes]
    if any(at >= cron.day_starts for at in times):
        yield _DAY
    if any(at < cron.day_starts for at in times):
        yield 2 * _DAY
