"""Cron patterns: the one implementation that lint, the scenarios and the engine share.

The dialect is the five-field Unix one (rule 9) with names for months and days, 0 and 7 for Sunday,
and aliases such as @daily. `parse` returns a pattern that computes its fires. Days follow Vixie cron: of two
day fields that are lists or ranges a day matches either; if one begins with `*` (`*`, `*/2`), it must match
both. Clock changes follow docs/adr/0008-cron-and-daylight-saving.md. The time is always
an argument. Fires are found by jumping from field to field, not by counting minutes. The calendar of a
trigger is a filter over days, see `domain.time.fire_times`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from tidegate.domain.time.cron_field import CronError, FieldValues, read_fields
from tidegate.domain.time.wall_clock import gap_end, instants, wall_time, zone_of
from tidegate.domain.value import Value

__all__ = ["Cron", "CronError", "parse"]

PARSE_CACHE_PATTERNS = 16_384
"""More than the patterns of the largest store we measure with (10,000 schedules)."""

TIMES_CACHE_PATTERNS = 512
"""A day has at most 1,440 times, so the cache has some tens of MB at most."""

MAX_YEARS_APART = 9
"""The longest gap of a pattern is 29 February across a year like 2100: eight years, and one to spare."""

_NEARBY = timedelta(hours=26)
"""More than the largest clock change ever (24 h, Samoa in 2011)."""

_EARLIEST = datetime.min.replace(tzinfo=UTC) + 2 * _NEARBY
_LATEST = datetime.max.replace(tzinfo=UTC) - 2 * _NEARBY

DayFilter = Callable[[date], bool]
"""Returns whether fires on a local date count."""

HoursKind = Literal["every", "pattern", "fixed"]

_READINGS: dict[HoursKind, tuple[bool, ...]] = {
    "every": (False, True),
    "pattern": (False, True),
    "fixed": (True,),
}
"""The instants of a repeated wall time that fire: the second, and for hourly patterns also the first."""


class Cron(Value, kw_only=True):
    """A parsed pattern.

    Attributes:
        text: the pattern as written.
        minutes: 0-59, ascending, like all the following.
        hours: 0-23.
        days: days of the month, 1-31.
        months: 1-12.
        weekdays: 0-6, where 0 is Sunday.
        either_day: both day fields are lists or ranges, and a day must match only one of them.
        read_otherwise: a day field such as `*/2` is beside another one. Libraries that take only a bare
            `*` for open, croniter and Dagster among them, read either.
        hours_kind: the form of the hours field, which determines the effect of a clock change:
            "every" (`*`), "pattern" (a range or steps, several hours), "fixed" (a list).
        expanded: the same pattern with names, ranges and steps spelled out, which every cron
            library reads in the same way.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    either_day: bool
    read_otherwise: bool
    hours_kind: HoursKind
    expanded: str

    def next_fire(self, after: datetime, zone: str, counts: DayFilter | None = None) -> datetime:
        """Return the first fire strictly after an instant, in UTC.

        Args:
            counts: filter of the days on which fires count; None for all days.

        Raises:
            ValueError: `after` is naive, or `zone` is unknown (`UnknownZoneError`).
            OverflowError: no day matches within `MAX_YEARS_APART`, or before the year 9999 ends.
        """
        offsets = _offsets_near(after, zone)
        start = _shifted(after, min(offsets))
        readings = _READINGS[self.hours_kind]
        return min(self._next(after, start, zone, second, counts) for second in readings)

    def previous_fire(self, at_or_before: datetime, zone: str, counts: DayFilter | None = None) -> datetime:
        """Return the last fire at or before an instant, in UTC; raise the errors of `next_fire`."""
        offsets = _offsets_near(at_or_before, zone)
        start = _shifted(at_or_before, max(offsets))
        readings = _READINGS[self.hours_kind]
        return max(self._previous(at_or_before, start, zone, second, counts) for second in readings)

    def wall_of(self, fire: datetime, zone: str, counts: DayFilter | None = None) -> datetime:
        """Return the wall time that the pattern names for one of its fires.

        It is that of the fire, or the last one within the gap that the fire follows: clocks in Nuuk go from
        23:00 to 00:00, and a fire of 23:30 is at 00:00 of the next day.

        Raises:
            OverflowError: the instant is before every fire.
        """
        wall = wall_time(fire, zone)
        found = next(self._walls_back(wall, counts), None)
        if found is None:
            raise OverflowError(f'"{self.text}" does not fire at {fire.isoformat()}')
        return found

    def fires(self, after: datetime, until: datetime, zone: str) -> Iterator[datetime]:
        """Yield every fire in (after, until], ascending, in UTC."""
        while (after := self.next_fire(after, zone)) <= until:
            yield after

    def walls_between(self, first: datetime, end: datetime) -> Iterator[datetime]:
        """Return the matching wall times in [first, end), ascending, without regard to clock changes."""
        return takewhile(lambda wall: wall < end, self._walls(first, None))

    def matches(self, day: date) -> bool:
        """Return whether the pattern matches a date, without regard to clock changes."""
        if day.month not in self.months:
            return False
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (by_month or by_week) if self.either_day else (by_month and by_week)

    def _next(
        self, after: datetime, start: datetime, zone: str, second: bool, counts: DayFilter | None
    ) -> datetime:
        # Instants ascend with wall times while repeated times are always read in the same way.
        for wall in self._walls(start, counts):
            instant = self._instant(wall, zone, second)
            if instant is not None and instant > after:
                return instant
        raise OverflowError(f'"{self.text}" does not fire after {after.isoformat()}')

    def _previous(
        self, at: datetime, start: datetime, zone: str, second: bool, counts: DayFilter | None
    ) -> datetime:
        for wall in self._walls_back(start, counts):
            instant = self._instant(wall, zone, second)
            if instant is not None and instant <= at:
                return instant
        raise OverflowError(f'"{self.text}" does not fire before {at.isoformat()}')

    def _instant(self, wall: datetime, zone: str, second: bool) -> datetime | None:
        found = instants(wall, zone)
        if found:
            return found[-1] if second else found[0]
        # A pattern of every hour already fires in each hour before and after the gap.
        return None if self.hours_kind == "every" else gap_end(wall, zone)

    def _walls(self, start: datetime, counts: DayFilter | None) -> Iterator[datetime]:
        """Yield the matching wall times at or after `start`, ascending."""
        times = _times(self.hours, self.minutes)
        first_day = start.date()
        for day in self._days(first_day, counts):
            begin = bisect_left(times, start.time()) if day == first_day else 0
            for at in times[begin:]:
                yield datetime.combine(day, at)

    def _walls_back(self, start: datetime, counts: DayFilter | None) -> Iterator[datetime]:
        """Yield the matching wall times at or before `start`, descending."""
        times = _times(self.hours, self.minutes)
        last_day = start.date()
        for day in self._days_back(last_day, counts):
            end = bisect_right(times, start.time()) if day == last_day else len(times)
            for at in reversed(times[:end]):
                yield datetime.combine(day, at)

    def _days(self, start: date, counts: DayFilter | None) -> Iterator[date]:
        """Yield the matching dates at or after `start`; stop after `MAX_YEARS_APART` without a match."""
        day, last_year = start, min(start.year + MAX_YEARS_APART, date.max.year)
        while day.year <= last_year:
            if self.matches(day) and (counts is None or counts(day)):
                yield day
                last_year = min(day.year + MAX_YEARS_APART, date.max.year)
            if day == date.max:
                return
            if day.month in self.months:
                day += timedelta(days=1)
            elif day.month == 12:
                if day.year == date.max.year:
                    return
                day = date(day.year + 1, 1, 1)
            else:
                day = date(day.year, day.month + 1, 1)

    def _days_back(self, start: date, counts: DayFilter | None) -> Iterator[date]:
        """Yield the matching dates at or before `start`, descending."""
        day, first_year = start, max(start.year - MAX_YEARS_APART, date.min.year)
        while day.year >= first_year:
            if self.matches(day) and (counts is None or counts(day)):
                yield day
                first_year = max(day.year - MAX_YEARS_APART, date.min.year)
            if day == date.min:
                return
            if day.month not in self.months:
                day = day.replace(day=1)
                if day == date.min:
                    return
            day -= timedelta(days=1)


@lru_cache(maxsize=PARSE_CACHE_PATTERNS)
def parse(text: str) -> Cron:
    """Parse a pattern.

    Raises:
        CronError: the text is not a supported pattern; its `hint` says what to write.
    """
    minute, hour, day, month, weekday = fields = read_fields(text)
    closed = not day.is_open and not weekday.is_open
    either = closed and not day.begins_open and not weekday.begins_open
    kind: HoursKind = "every" if hour.is_open else "pattern" if hour.is_pattern else "fixed"
    return Cron(
        text=text,
        minutes=minute.values,
        hours=hour.values,
        days=day.values,
        months=month.values,
        weekdays=weekday.values,
        either_day=either,
        read_otherwise=closed and not either,
        hours_kind=kind,
        expanded=" ".join(_spelled_out(field, closed and field in (day, weekday)) for field in fields),
    )


def _spelled_out(field: FieldValues, both_days: bool) -> str:
    if field.is_open:
        return "*"
    # Spelled out, `*/2` beside another day field would mean either.
    return field.text if both_days and field.begins_open else ",".join(map(str, field.values))


@lru_cache(maxsize=TIMES_CACHE_PATTERNS)
def _times(hours: tuple[int, ...], minutes: tuple[int, ...]) -> tuple[time, ...]:
    return tuple(time(hour, minute) for hour in hours for minute in minutes)


def _offsets_near(instant: datetime, zone: str) -> set[timedelta]:
    """Return the offsets from UTC around an instant: several if the clocks change nearby."""
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs a time zone, got the naive {instant.isoformat()}")
    info = zone_of(zone)
    found: set[timedelta] = set()
    here = instant.astimezone(UTC)
    for moved in (here, max(here, _EARLIEST) - _NEARBY, min(here, _LATEST) + _NEARBY):
        offset = moved.astimezone(info).utcoffset()
        assert offset is not None
        found.add(offset)
    return found


def _shifted(instant: datetime, offset: timedelta) -> datetime:
    """Return the wall time of an instant at a given offset."""
    return instant.astimezone(UTC).replace(tzinfo=None) + offset
