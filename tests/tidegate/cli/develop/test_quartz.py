"""Cron patterns of Quartz as ours: the same days of the week, and what is not translated."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tidegate.domain.time.cron import parse
from tidegate.project.other_schedulers.quartz import pattern_of
from tidegate.project.other_schedulers.translated import NotTranslated


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("0 4 * * *", "0 4 * * *"),
        ("0 4 ? * 1", "0 4 * * 0"),
        ("0 4 ? * 7", "0 4 * * 6"),
        ("0 4 ? * 2-6", "0 4 * * 1-5"),
        ("0 4 ? * 6-2", "0 4 * * 5-6,0-1"),
        ("0 4 ? * MON-FRI", "0 4 * * MON-FRI"),
        ("0 4 ? * 1,SAT", "0 4 * * 0,SAT"),
        ("0 4 ? * 2/3", "0 4 * * 1-6/3"),
        ("0 4 ? * */2", "0 4 * * */2"),
        ("0 0/15 * * * ?", "0/15 * * * *"),
        ("0 0 22-2 1 JAN ?", "0 22-23,0-2 1 JAN *"),
    ],
)
def test_a_pattern_of_quartz_is_ours(theirs: str, ours: str) -> None:
    assert pattern_of(theirs) == ours


@pytest.mark.parametrize(
    "text", ["", "* * *", "5 0 4 * * ?", "0 0 4 * * ? 2026", "0 4 ? * 0", "0 4 ? * 8", "0 4 ? * 2#1"]
)
def test_other_patterns_are_not_translated(text: str) -> None:
    with pytest.raises(NotTranslated):
        pattern_of(text)


@pytest.mark.parametrize("theirs", ["1", "7", "2-6", "6-2", "SUN", "MON-FRI", "1,4", "2/3", "*/2", "FRI-MON"])
def test_days_of_quartz_are_the_same_days_for_a_year(theirs: str) -> None:
    at, end = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(seconds=1), datetime(2027, 1, 1, tzinfo=UTC)
    fires = {each.date() for each in parse(pattern_of(f"0 12 ? * {theirs}")).fires(at, end, "UTC")}
    days = (date(2026, 1, 1) + timedelta(days=each) for each in range(365))
    assert fires == {day for day in days if quartz_day(day) in quartz_days(theirs)}


def quartz_day(day: date) -> int:
    return day.isoweekday() % 7 + 1


def quartz_days(text: str) -> set[int]:
    names = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
    found: set[int] = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        begin, _, end = ("1-7" if span == "*" else span).partition("-")
        first, last = (
            names.index(each) + 1 if each in names else int(each) for each in (begin, end or begin)
        )
        last = 7 if step and not end else last
        length = (last - first) % 7 + 1
        found |= {(first - 1 + each) % 7 + 1 for each in range(0, length, int(step or 1))}
    return found
