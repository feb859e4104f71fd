"""The business days of a calendar: by country or market, weekend and own dates.

A calendar is a value of the model; this module computes its days and never reads a clock. The
holidays come from the package `holidays`, which is imported only when a calendar names a country,
since the import takes a quarter of a second. A day is a local date: the zone belongs to the cron
or the window, not to the calendar.
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

WEEKDAYS = Calendar(name="monday to friday")
"""The business days where no calendar is named."""

MAX_DAYS_APART = 366
"""How far back the business day before is looked for. `has_every_week` holds for calendars that are asked."""

CACHED_YEARS = 1_024
"""Size of the caches of years: a year is some 260 dates, so a cache has some tens of MB at most."""


def is_business_day(calendar: Calendar, day: date) -> bool:
    """Return whether a date is a business day: in `open`, or neither closed, weekend nor holiday.

    Raises:
        ValueError: the calendar is not valid, see `problem_of`.
    """
    return day in _days_of_year(calendar, day.year)


def nth_business_day(calendar: Calendar, year: int, month: int, n: int) -> date | None:
    """Return the n-th business day of a month: 1 is the first, -1 the last; None if the month has fewer.

    Raises:
        ValueError: `n` is 0, or the calendar is not valid, see `problem_of`.
    """
    if n == 0:
        raise ValueError("business days are counted from 1, or back from -1; got 0")
    days = _by_month(calendar, year)[month - 1]
    index = n - 1 if n > 0 else len(days) + n
    return days[index] if 0 <= index < len(days) else None


def previous_business_day(calendar: Calendar | None, day: date) -> date:
    """Return the last business day before a day; without a calendar of Monday to Friday.

    Raises:
        OverflowError: there is none within a year.
        ValueError: the calendar is not valid, see `problem_of`.
    """
    found = (day - timedelta(days=n) for n in range(1, MAX_DAYS_APART + 1))
    before = next((each for each in found if is_business_day(calendar or WEEKDAYS, each)), None)
    if before is None:
        raise OverflowError(f"no business day within a year before {day}")
    return before


def next_business_day(calendar: Calendar | None, day: date) -> date:
    """Return the first business day after a day, as `previous_business_day` counts them; raise its errors."""
    found = (day + timedelta(days=n) for n in range(1, MAX_DAYS_APART + 1))
    after = next((each for each in found if is_business_day(calendar or WEEKDAYS, each)), None)
    if after is None:
        raise OverflowError(f"no business day within a year after {day}")
    return after


def has_every_week(calendar: Calendar | None) -> bool:
    """Return whether a calendar has business days in every week but for holidays and own dates."""
    return calendar is None or set(calendar.weekend) != set(DAY_NAMES)


def opens_on(window: WindowConstraint, day: date) -> bool:
    """Return whether the days and the calendar of a window let it open on a date of its zone."""
    if window.days and DAY_NAMES[day.weekday()] not in window.days:
        return False
    return window.calendar is None or is_business_day(window.calendar, day)


def ever_a_business_day(days: Iterable[Day], calendar: Calendar) -> bool:
    """Return whether at least one of some days of the week can be a business day, without holidays."""
    opened = {DAY_NAMES[day.weekday()] for day in calendar.open}
    return any(day in opened or day not in calendar.weekend for day in days)


def problem_of(calendar: Calendar) -> str | None:
    """Return what is wrong with a calendar, as the summary of a diagnostic; None for a valid one."""
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
    """Return the business days of a year."""
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
    """Return the business days of each month of a year, ascending."""
    days = sorted(_days_of_year(calendar, year))
    return tuple(tuple(day for day in days if day.month == month) for month in range(1, 13))


@lru_cache(maxsize=CACHED_YEARS)
def _holidays(country: str, subdivision: str | None, year: int) -> frozenset[date]:
    """Return the holidays of a country or market in a year, with the days on which they are observed."""
    if country not in _codes():
        raise ValueError(f"a country is an ISO 3166 code or the code of a market, got {shown(country)}")
    # The year of the class includes holidays that are observed early, such as 1 January on 31 December.
    return frozenset(_entity(country)(subdiv=subdivision, years=year))


@cache
def _codes() -> frozenset[str]:
    """Return the codes of all countries and markets that the package knows."""
    from holidays.registry import EntityLoader

    return frozenset((*EntityLoader.get_country_codes(), *EntityLoader.get_financial_codes()))


def _entity(country: str) -> Any:
    """Return the package's class for a country or market."""
    import holidays

    return getattr(holidays, country)
