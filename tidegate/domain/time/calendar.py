"""Business calendars: which days count, by country or market, weekend and own dates.

A calendar is a value of the model; this module answers questions about it and never reads a
clock. The holidays come from the package `holidays`, which is loaded only when a calendar
names a country, since that costs a quarter of a second. A day is a date on the wall of
whoever asks: the zone belongs to the cron or the window, not to the calendar.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Any

from tidegate.domain.model import Calendar, Day, WindowConstraint
from tidegate.domain.suggest import closest
from tidegate.domain.wording import listed, shown

DAY_NAMES: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""In the order of `date.weekday`."""

CACHED_YEARS = 1_024
"""Years of calendars kept: a year is some 260 dates, so this bounds the cache at some tens of MB."""


def is_business_day(calendar: Calendar, day: date) -> bool:
    """Whether a date is a business day: opened by name, or neither closed, weekend nor holiday.

    Raises:
        ValueError: `problem_of` has something to say about the calendar.
    """
    return day in _days_of_year(calendar, day.year)


def nth_business_day(calendar: Calendar, year: int, month: int, n: int) -> date | None:
    """A business day of a month: 1 is the first, -1 the last; None if the month has fewer.

    Raises:
        ValueError: `n` is 0, or `problem_of` has something to say about the calendar.
    """
    if n == 0:
        raise ValueError("business days are counted from 1, or back from -1; got 0")
    days = _by_month(calendar, year)[month - 1]
    index = n - 1 if n > 0 else len(days) + n
    return days[index] if 0 <= index < len(days) else None


def opens_on(window: WindowConstraint, day: date) -> bool:
    """Whether a window opens on a date of its zone, as its days and its calendar have it."""
    if window.days and DAY_NAMES[day.weekday()] not in window.days:
        return False
    return window.calendar is None or is_business_day(window.calendar, day)


def ever_a_business_day(days: Iterable[Day], calendar: Calendar) -> bool:
    """Whether one of some days of the week can be a business day, holidays aside."""
    opened = {DAY_NAMES[day.weekday()] for day in calendar.open}
    return any(day in opened or day not in calendar.weekend for day in days)


def problem_of(calendar: Calendar) -> str | None:
    """What is wrong with a calendar, in the words of a diagnostic; None if nothing is."""
    both = sorted(set(calendar.open) & set(calendar.closed))
    if both:
        dates = listed([str(day) for day in both], "and")
        return f'a day is open or closed, got {dates} in both lists of calendar "{calendar.name}"'
    if set(calendar.weekend) == set(DAY_NAMES) and not calendar.open:
        return f'a calendar has business days, got a weekend of seven days in "{calendar.name}"'
    if calendar.country is None:
        if calendar.subdivision is not None:
            return f"a subdivision belongs to a country, got {shown(calendar.subdivision)} without one"
        return None
    return _problem_of_country(calendar.country, calendar.subdivision)


def _problem_of_country(country: str, subdivision: str | None) -> str | None:
    if country not in _codes():
        close = closest(country, sorted(_codes()))
        meant = f"; did you mean {shown(close)}?" if close else ""
        return f"a country is an ISO 3166 code or the code of a market, got {shown(country)}{meant}"
    if subdivision is None:
        return None
    entity = _entity(country)
    if subdivision in entity.subdivisions or subdivision in entity.subdivisions_aliases:
        return None
    if not entity.subdivisions:
        return f"{shown(country)} has no subdivisions, got {shown(subdivision)}"
    known = listed(entity.subdivisions, "and")
    return f"{shown(country)} has the subdivisions {known}, got {shown(subdivision)}"


@lru_cache(maxsize=CACHED_YEARS)
def _days_of_year(calendar: Calendar, year: int) -> frozenset[date]:
    """The business days of a year."""
    weekend = {DAY_NAMES.index(name) for name in calendar.weekend}
    closed = frozenset(calendar.closed)
    if calendar.country is not None:
        closed |= _holidays(calendar.country, calendar.subdivision, year)
    first = date(year, 1, 1)
    count = (date(year, 12, 31) - first).days + 1
    days = (first + timedelta(days=n) for n in range(count))
    plain = frozenset(day for day in days if day.weekday() not in weekend and day not in closed)
    return plain.union(day for day in calendar.open if day.year == year)


@lru_cache(maxsize=CACHED_YEARS)
def _by_month(calendar: Calendar, year: int) -> tuple[tuple[date, ...], ...]:
    """The business days of each month of a year, ascending."""
    days = sorted(_days_of_year(calendar, year))
    return tuple(tuple(day for day in days if day.month == month) for month in range(1, 13))


@lru_cache(maxsize=CACHED_YEARS)
def _holidays(country: str, subdivision: str | None, year: int) -> frozenset[date]:
    """The holidays of a country or market in a year, with the days on which they are observed."""
    if country not in _codes():
        raise ValueError(f"a country is an ISO 3166 code or the code of a market, got {shown(country)}")
    # A country's class takes what is observed early, such as 1 January on 31 December, into the year.
    return frozenset(_entity(country)(subdiv=subdivision, years=year))


@cache
def _codes() -> frozenset[str]:
    """The codes of every country and market whose holidays are known."""
    from holidays.registry import EntityLoader

    return frozenset((*EntityLoader.get_country_codes(), *EntityLoader.get_financial_codes()))


def _entity(country: str) -> Any:
    """The class of the package that knows the holidays of a country or market."""
    import holidays

    return getattr(holidays, country)
