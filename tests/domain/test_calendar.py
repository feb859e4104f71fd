"""Business calendars: which days count, and what is refused."""

import subprocess
import sys
from datetime import date, timedelta

import pytest

from tidegate.domain.model import Calendar
from tidegate.domain.time.calendar import DAY_NAMES, is_business_day, nth_business_day, problem_of


def calendar(**given: object) -> Calendar:
    return Calendar(name="work", **given)


PLAIN, US, NYSE = calendar(), calendar(country="US"), calendar(country="NYSE")
NEW_YEAR_EVE = date(2026, 12, 31)

DAYS = [
    ("a Monday is", PLAIN, "2026-03-09", True),
    ("a Saturday is not", PLAIN, "2026-03-07", False),
    ("another weekend", calendar(weekend=("fri", "sat")), "2026-03-08", True),
    ("another weekend's Friday", calendar(weekend=("fri", "sat")), "2026-03-06", False),
    ("no weekend at all", calendar(weekend=()), "2026-03-07", True),
    ("a holiday of the country", US, "2026-11-26", False),
    ("the day on which a holiday is observed", US, "2026-07-03", False),
    ("a holiday observed in the year before", US, "2027-12-31", False),
    ("a holiday that is only the country's", NYSE, "2026-11-11", True),
    ("a holiday that is only the market's", NYSE, "2026-04-03", False),
    ("Good Friday does not close the country", US, "2026-04-03", True),
    ("a holiday of the subdivision", calendar(country="DE", subdivision="BY"), "2026-01-06", False),
    ("which its neighbours do not have", calendar(country="DE", subdivision="HH"), "2026-01-06", True),
    ("a subdivision by its long name", calendar(country="DE", subdivision="Bayern"), "2026-01-06", False),
    ("a day closed by name", calendar(closed=(NEW_YEAR_EVE,)), "2026-12-31", False),
    ("a day opened by name on a weekend", calendar(open=(date(2026, 3, 7),)), "2026-03-07", True),
    (
        "a day opened by name on a holiday",
        calendar(country="US", open=(date(2026, 12, 25),)),
        "2026-12-25",
        True,
    ),
    ("the first day of time", PLAIN, "0001-01-01", True),
    ("the last one", calendar(country="US"), "9999-12-31", True),
]


@pytest.mark.parametrize(("sentence", "given", "day", "expected"), DAYS, ids=[row[0] for row in DAYS])
def test_business_days(sentence: str, given: Calendar, day: str, expected: bool) -> None:
    assert is_business_day(given, date.fromisoformat(day)) is expected


NTH = [
    ("the first of a month that begins on a holiday and a weekend", US, (2027, 1), 1, "2027-01-04"),
    ("the first", US, (2026, 1), 1, "2026-01-02"),
    ("the tenth", US, (2026, 3), 10, "2026-03-13"),
    ("the last", US, (2026, 1), -1, "2026-01-30"),
    ("the last but one", US, (2026, 1), -2, "2026-01-29"),
    ("more than the month has", US, (2026, 1), 23, None),
    ("more than the month has, from its end", US, (2026, 1), -23, None),
]


@pytest.mark.parametrize(("sentence", "given", "month", "n", "expected"), NTH, ids=[row[0] for row in NTH])
def test_the_nth_business_day(
    sentence: str, given: Calendar, month: tuple[int, int], n: int, expected: str | None
) -> None:
    found = nth_business_day(given, *month, n)
    assert found == (None if expected is None else date.fromisoformat(expected))


def test_every_nth_business_day_is_one_and_they_are_all() -> None:
    for month in range(1, 13):
        first = date(2026, month, 1)
        days = [first + timedelta(days=n) for n in range(31)]
        expected = [day for day in days if day.month == month and is_business_day(US, day)]
        assert [nth_business_day(US, 2026, month, n + 1) for n in range(len(expected))] == expected
        assert [nth_business_day(US, 2026, month, n) for n in range(-len(expected), 0)] == expected


def test_there_is_no_business_day_number_zero() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        nth_business_day(US, 2026, 1, 0)


PROBLEMS = [
    ("none", US, None),
    ("none with a subdivision", calendar(country="US", subdivision="NY"), None),
    ("none with a market's other code", calendar(country="XNYS"), None),
    ("small letters", calendar(country="us"), 'got "us"; did you mean "US"?'),
    ("a name", calendar(country="Germany"), 'ISO 3166 code or the code of a market, got "Germany"'),
    ("a word that the package also has", calendar(country="HolidayBase"), 'got "HolidayBase"'),
    ("a subdivision of another country", calendar(country="DE", subdivision="NY"), "BW, BY, "),
    ("a subdivision of a market", calendar(country="NYSE", subdivision="NY"), 'no subdivisions, got "NY"'),
    ("a subdivision of nothing", calendar(subdivision="NY"), 'got "NY" without one'),
    ("nothing but weekend", calendar(weekend=DAY_NAMES), "a weekend of seven days"),
    ("nothing but weekend and days opened by name", calendar(weekend=DAY_NAMES, open=(NEW_YEAR_EVE,)), None),
    ("open and closed", calendar(open=(NEW_YEAR_EVE,), closed=(NEW_YEAR_EVE,)), "got 2026-12-31 in both"),
]


@pytest.mark.parametrize(("sentence", "given", "says"), PROBLEMS, ids=[row[0] for row in PROBLEMS])
def test_problems(sentence: str, given: Calendar, says: str | None) -> None:
    problem = problem_of(given)
    assert (problem is None) == (says is None), problem
    assert says is None or says in (problem or "")


def test_days_of_a_country_that_is_none_are_refused() -> None:
    with pytest.raises(ValueError, match="XX"):
        is_business_day(calendar(country="XX"), date(2026, 1, 1))


def test_the_package_of_holidays_is_loaded_only_for_a_country() -> None:
    program = (
        "import sys; from datetime import date; from tidegate.compiler.compile import compile_files;"
        "from tidegate.domain.time.calendar import is_business_day, problem_of;"
        "from tidegate.domain.model import Calendar;"
        "own = Calendar(name='own'); assert problem_of(own) is None;"
        "assert is_business_day(own, date(2026, 3, 9));"
        "sys.exit('holidays' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
