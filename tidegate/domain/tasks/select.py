"""Select: which instances of an upstream task gate an instance (docs/cycles.md, "Dependencies").

    container ──► its instances, in the order of their times ──► the rule picks among them

The container is the natural hour or day in which the instance lies, in its own zone, or the one before. The
rule is that of the two cycles, or `select`. A calendar period holds the instances whose business dates lie in
that of the current one, and a span those up to the scheduled time of the current one; there `all` is the
rule. A rule that looks back counts instances up to the current one only. Instances are compared by their
scheduled times, and within a backfill by their business dates. Pure.
"""

from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeVar, assert_never

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Cycle, Dependency, Select, TaskTrigger
from tidegate.domain.tasks.grid import natural_container
from tidegate.domain.tasks.key import last_day_of, unit_of_cycle
from tidegate.domain.time.calendar import DAY_NAMES
from tidegate.domain.time.cycle import Period
from tidegate.domain.time.natural_time import Unit
from tidegate.domain.time.wall_clock import first_instant, wall_time
from tidegate.domain.value import Value

Container = Literal["hour", "day"]

ONE_DAY, MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
WIDER = timedelta(days=3)
"""So much wider than the dates is what is read of a calendar period: scheduled times in any zone."""

T = TypeVar("T")

MATRIX: dict[tuple[Unit, Unit], tuple[Container, Select]] = {
    ("minute", "minute"): ("hour", "nearest"),
    ("minute", "hour"): ("hour", "exactly_one"),
    ("minute", "day"): ("day", "exactly_one"),
    ("hour", "minute"): ("hour", "last"),
    ("hour", "hour"): ("day", "nearest"),
    ("hour", "day"): ("day", "exactly_one"),
    ("day", "minute"): ("day", "last"),
    ("day", "hour"): ("day", "last"),
    ("day", "day"): ("day", "exactly_one"),
}
"""(size of the task, size of the upstream task) -> the container, and the rule."""

LOOKS_BACK: frozenset[Select] = frozenset({"nearest", "exactly_one"})
"""Rules that leave out instances later than the current one, in its own container."""

TEXTS: dict[Select, str] = {
    "nearest": "the nearest one",
    "last": "the last one",
    "first": "the first one",
    "all": "all",
    "exactly_one": "the only one",
}


def container_of(cycle: Cycle, upstream: Cycle) -> Container:
    """Return the unit of the container in which instances of two cycles meet."""
    unit, _ = MATRIX[unit_of_cycle(cycle), unit_of_cycle(upstream)]
    return unit


class Choice(Value, kw_only=True):
    """How one dependency of an instance picks upstream instances.

    Attributes:
        container: where it looks. Of a calendar period it is wide enough for every zone.
        dates: of a calendar period: the first and the last business date, as they read.
        current: the scheduled time, or the business date, of the instance itself.
        text: the rule for people.
    """

    container: Period
    dates: tuple[date, date] | None = None
    current: datetime
    select: Select
    looks_back: bool
    text: str


def choice_of(
    dependency: Dependency,
    task: TaskTrigger,
    upstream: TaskTrigger,
    current: datetime,
    *,
    backfill: bool,
    business: date | None = None,
) -> Choice:
    """Return how an instance picks from an upstream task.

    Args:
        task: that of the instance.
        current: the instance's scheduled time; within a backfill the instant of its business date.
        backfill: whether both belong to one backfill, in which an instance waits for all finer ones.
        business: the day of the instance's business date; only calendar periods need it.
    """
    if dependency.is_long:
        return _long_choice(dependency, task, upstream, current, business)
    unit, rule = MATRIX[unit_of_cycle(task.cycle), unit_of_cycle(upstream.cycle)]
    if backfill and rule == "last":
        rule = "all"
    previous = dependency.period == "previous"
    rule = dependency.select or rule
    container = natural_container(task.timezone, current, unit, previous=previous)
    where = f"the {unit} before" if previous else f"the same {unit}"
    looks_back = rule in LOOKS_BACK and not previous
    return Choice(
        container=container,
        current=current,
        select=rule,
        looks_back=looks_back,
        text=f"{TEXTS[rule]} of {where}" + (" up to this one" if looks_back else ""),
    )


def _long_choice(
    dependency: Dependency,
    task: TaskTrigger,
    upstream: TaskTrigger,
    current: datetime,
    business: date | None,
) -> Choice:
    rule = dependency.select or "all"
    if dependency.within is not None:
        container, dates = _span(dependency.within, task.timezone, current), None
        where = f"the {duration_text(dependency.within)} up to this one"
    else:
        assert business is not None, "a calendar period is that of a business date"
        dates = calendar_dates(dependency, business)
        days = dates[0], last_day_of(upstream, dates[1])
        first, last = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in days)
        container = Period(start=first - WIDER, end=last + WIDER)
        where = f"the same {dependency.period}"
    return Choice(
        container=container,
        dates=dates,
        current=current,
        select=rule,
        looks_back=rule in LOOKS_BACK,
        text=f"{TEXTS[rule]} of {where}" + (" up to this one" if rule in LOOKS_BACK else ""),
    )


def calendar_dates(dependency: Dependency, day: date) -> tuple[date, date]:
    """Return the first and the last day of the calendar period of a day."""
    match dependency.period:
        case "week":
            first = day - ((day.weekday() - DAY_NAMES.index(dependency.week_starts)) % 7) * ONE_DAY
            return first, first + 6 * ONE_DAY
        case "month":
            return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])
        case _:
            return date(day.year, 1, 1), date(day.year, 12, 31)


def _span(within: timedelta, zone: str, current: datetime) -> Period:
    """Return the span (T - within, T] of a time T; whole days are counted on the calendar."""
    by_clock = bool(within % ONE_DAY)
    start = current - within if by_clock else first_instant(wall_time(current, zone) - within, zone)
    return Period(start=start + MICROSECOND, end=current + MICROSECOND)


def pick(choice: Choice, found: Sequence[tuple[datetime, T]]) -> tuple[T, ...]:
    """Return the picked instances.

    Args:
        found: the instances of the upstream task with their times, in order; those outside the container are
            left out here.
    """
    start, end = choice.container.start, choice.container.end
    inside = [each for time, each in found if start <= time < end]
    if choice.looks_back:
        inside = [each for time, each in found if start <= time < end and time <= choice.current]
    match choice.select:
        case "nearest" | "last":
            return tuple(inside[-1:])
        case "first":
            return tuple(inside[:1])
        case "all":
            return tuple(inside)
        case "exactly_one":
            return tuple(inside) if len(inside) == 1 else ()
        case _:
            assert_never(choice.select)
