"""`tidegate import crontab`: each line fires as cron does, in a year with its changes of the clock."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import CronTrigger
from tidegate.domain.time.fire_times import fires
from tidegate.project.other_schedulers.crontab import read_crontab

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
ALIASES = {"@hourly": "0 * * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@annually": "0 0 1 1 *"}


def test_translated_crons_fire_at_the_instants_of_a_year_of_cron() -> None:
    chance = random.Random(20260329)
    lines = [(random_line(chance), chance.choice(ZONES)) for _ in range(40)]
    crontab = "".join(f"CRON_TZ={zone}\n{line} /a\n" for line, zone in lines)

    text = read_crontab(crontab.encode(), "legacy").text()
    app = compile_files({"legacy.yaml": text.encode()}).models()["legacy"]

    for (line, zone), schedule in zip(lines, app.schedules.values(), strict=True):
        assert isinstance(schedule.trigger, CronTrigger)
        found = list(fires(schedule.trigger, YEAR[0] - timedelta(microseconds=1), YEAR[1]))
        assert found == sorted(set(expected_fires(line, ZoneInfo(zone)))), f"{line} in {zone}"


def random_line(chance: random.Random) -> str:
    if chance.random() < 0.1:
        return chance.choice(list(ALIASES))
    return " ".join(
        (
            chance.choice(["0", "30", "5,35", "59"]),
            chance.choice(["2", "0", "1,2,3", "*/6", "*", "8-18/5", "23"]),
            chance.choice(["*", "*", "*/10", "1-7", "1,15,31"]),
            chance.choice(["*", "*", "mar,oct", "1-6/2", "Nov"]),
            chance.choice(["*", "*", "mon-fri", "7", "0", "*/2", "5-7", "SAT", "1,3"]),
        )
    )


def expected_fires(line: str, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the fires of a line by the rules of Vixie cron for days, and ours for changes of the clock."""
    minute, hour, day, month, weekday = ALIASES.get(line, line).split()
    minutes, hours = numbers(minute, 0, 59), numbers(hour, 0, 23)
    either = not day.startswith("*") and not weekday.startswith("*")
    for offset in range(-1, 367):
        on = date(2026, 1, 1) + timedelta(days=offset)
        by_day = on.day in numbers(day, 1, 31)
        by_weekday = on.isoweekday() % 7 in {each % 7 for each in numbers(weekday, 0, 7, DAYS)}
        if on.month not in numbers(month, 1, 12, MONTHS, first=1):
            continue
        if not ((by_day or by_weekday) if either else (by_day and by_weekday)):
            continue
        for wall in (datetime.combine(on, time(h, m)) for h in hours for m in minutes):
            yield from (at for at in instants(wall, hour, zone) if YEAR[0] <= at <= YEAR[1])


def instants(wall: datetime, hour: str, zone: ZoneInfo) -> list[datetime]:
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first < second:
        return [first, second] if set(hour) & set("*-") else [second]
    if first > second:
        # The reading before the gap is the instant that lies behind it; the clocks go on in between.
        return [] if hour == "*" else [end_of_gap(second, first, zone)]
    return [first]


def end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    old = before.astimezone(zone).utcoffset()
    while before.astimezone(zone).utcoffset() == old:
        before += timedelta(minutes=1)
    assert before <= after
    return before


def numbers(text: str, low: int, high: int, names: tuple[str, ...] = (), first: int = 0) -> set[int]:
    found: set[int] = set()
    for item in text.lower().split(","):
        span, _, step = item.partition("/")
        begin, _, end = (f"{low}-{high}" if span == "*" else span).partition("-")
        values = [names.index(each) + first if each in names else int(each) for each in (begin, end or begin)]
        found |= set(range(values[0], values[1] + 1, int(step or 1)))
    return found
