"""Cron: what is read, what is refused, and when a pattern fires on the days the clocks change."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter

from tests.domain.zones import random_pattern
from tidegate.domain.time.cron import CronError, parse

BERLIN = "Europe/Berlin"
MINUTE = timedelta(minutes=1)


def instant(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def shown(fires: list[datetime], zone: str) -> str:
    return " ".join(f"{fire.astimezone(ZoneInfo(zone)):%H:%M%z}" for fire in fires)


# --- reading ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("0 6 * * 1-5", "0 6 * * 1,2,3,4,5"),
        ("*/15 * * * *", "0,15,30,45 * * * *"),
        ("5/20 0 1 1 *", "5,25,45 0 1 1 *"),
        ("0 10-20/3 * jan-MAR/2 *", "0 10,13,16,19 * 1,3 *"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * fri-sun", "0 0 * * 0,5,6"),
        ("0 0 * * 5-7", "0 0 * * 0,5,6"),
        ("0 0 * * 7-7", "0 0 * * 0"),
        ("0 0 4-4 * *", "0 0 4 * *"),
        ("0 0 1,15,*/10 * *", "0 0 1,11,15,21,31 * *"),
        (" 0\t0  * * * ", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_a_pattern_means_its_numbers(text: str, expanded: str) -> None:
    assert parse(text).expanded == expanded


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("", "0 of 5 fields", "five fields"),
        ("* * * *", "4 of 5 fields", "five fields"),
        ("* * * * * *", "6 fields", "no seconds and no years"),
        ("0 0 0 1 1 ? 2030", "7 fields", "no seconds and no years"),
        ("@reboot", '"@reboot" is not known', "@daily"),
        ("R * * * *", 'uses "R"', "fixed minute"),
        ("H 0 * * *", 'uses "H"', "fixed minute"),
        ("0 0 L * *", 'uses "L"', "last day"),
        ("0 0 15W * *", 'uses "W"', "nearest weekday"),
        ("0 0 * * mon#1", 'uses "#"', "n-th weekday"),
        ("0 0 ? * *", 'uses "?"', '"*"'),
        ("60 * * * *", "minute 60", "0 to 59"),
        ("0 24 * * *", "hour 24", "0 to 23"),
        ("0 0 0 * *", "day of month 0", "1 to 31"),
        ("0 0 * 13 *", "month 13", "1 to 12"),
        ("0 0 * * 8", "day of week 8", "0 to 7"),
        ("0 22-2 * * *", "runs backwards", '"22-23,0-2"'),
        ("0 0 * * sat-tue", "runs backwards", '"6,0-2"'),
        ("*/0 * * * *", 'step "0"', "1 to 59"),
        ("*/90 * * * *", "step 90", "once in each"),
        ("*/-5 * * * *", 'step "-5"', "1 to 59"),
        ("1,,2 * * * *", "not understood", "lists"),
        ("1- * * * *", "not understood", "ranges"),
        ("0 0 * * friday", "not understood", "FRI"),
        ("0 0 30 2 *", "Feb never has the day", "up to 29"),
        ("0 0 31 2,4,6 *", "Feb, Apr, Jun never has the day", "up to 30"),
        ("0 0 31 4 1", "Apr never has the day", "up to 30"),
        ("0 0 * * 1\u200b", "U+200B", "ASCII"),
        ("0 0 * * \u0661", "U+0661", "ASCII"),
        ("9" * 5000 + " * * * *", "512 characters, got 5008", "five fields"),
        ("99999 * * * *", "not understood", "0 to 59"),
    ],
)
def test_a_pattern_outside_the_dialect_is_refused(text: str, says: str, hint: str) -> None:
    with pytest.raises(CronError) as refused:
        parse(text)
    assert says in refused.value.message
    assert hint in refused.value.hint


# --- changes of the clocks --------------------------------------------------------------

SPRING, AUTUMN = "2026-03-29T00:00", "2026-10-25T00:00"


@pytest.mark.parametrize(
    ("pattern", "from_", "expected"),
    [
        # A time in the gap runs at the first instant after it.
        ("30 2 * * *", SPRING, "03:00+0200"),
        # Two times of the gap that meet at its end are one fire.
        ("0,30 2 * * *", SPRING, "03:00+0200"),
        ("30 2,3 * * *", SPRING, "03:00+0200 03:30+0200"),
        ("0 2,3 * * *", SPRING, "03:00+0200"),
        # A doubled fixed time runs once, the second time.
        ("30 2 * * *", AUTUMN, "02:30+0100"),
        ("*/20 2 * * *", AUTUMN, "02:00+0100 02:20+0100 02:40+0100"),
        # Hourly patterns run in every real hour.
        ("30 * * * *", SPRING, "00:30+0100 01:30+0100 03:30+0200 04:30+0200"),
        ("30 * * * *", AUTUMN, "00:30+0200 01:30+0200 02:30+0200 02:30+0100 03:30+0100 04:30+0100"),
        ("0 0-5 * * *", AUTUMN, "01:00+0200 02:00+0200 02:00+0100 03:00+0100 04:00+0100"),
        ("0 */2 * * *", SPRING, "03:00+0200 04:00+0200"),
        ("0 */2 * * *", AUTUMN, "02:00+0200 02:00+0100 04:00+0100"),
        ("0 1-2 * * *", SPRING, "01:00+0100 03:00+0200"),
    ],
)
def test_the_rule_for_the_hours_that_clocks_skip_and_double(pattern: str, from_: str, expected: str) -> None:
    after = instant(from_, BERLIN)
    until = instant(from_.replace("00:00", "04:59"), BERLIN)
    assert shown(list(parse(pattern).fires(after, until, BERLIN)), BERLIN) == expected


def test_a_whole_day_that_a_zone_skipped_fires_when_the_next_begins() -> None:
    # Samoa went from the 29th to the 31st of December 2011.
    fires = list(
        parse("0 12 * * *").fires(
            instant("2011-12-29T13:00", "Pacific/Apia"),
            instant("2012-01-01T00:00", "Pacific/Apia"),
            "Pacific/Apia",
        )
    )
    assert [f"{fire.astimezone(ZoneInfo('Pacific/Apia')):%d %H:%M}" for fire in fires] == [
        "31 00:00",
        "31 12:00",
    ]


# --- other implementations --------------------------------------------------------------


def test_fires_equal_croniters_where_clocks_stand_still() -> None:
    chance = random.Random(20260309)
    for _ in range(300):
        month = chance.choice(["*", "*", "2", "1-6", "*/4", "dec"])
        fields = random_pattern(chance).split()
        pattern = " ".join([*fields[:3], month, fields[4]])
        start = datetime(2026, 1, 1, tzinfo=UTC) + chance.randrange(3 * 365 * 24 * 60) * MINUTE
        # What they call a bug is Vixie's rule of two day fields.
        theirs = croniter(pattern, start, implement_cron_bug=True)
        at, cron = start, parse(pattern)
        for _ in range(5):
            at = cron.next_fire(at, "UTC")
            assert at == theirs.get_next(datetime), f"{pattern} after {start}"


@pytest.mark.dagster
def test_a_spelled_out_pattern_means_the_same_to_dagster() -> None:
    # Dagster reads "4-4" as every day; the spelled-out "4" it reads as we do.
    from dagster._utils.schedules import is_valid_cron_schedule

    from tidegate.dagster_defs.internals.cron import schedule_execution_time_iterator

    start = instant("2026-03-01T00:00")
    for text in ("0 0 4-4 * *", "0 0 * * fri-sun", "0 0 1 * 1-5", "@weekly", "0 0 29 2 *"):
        cron = parse(text)
        assert is_valid_cron_schedule(cron.expanded)
        theirs = schedule_execution_time_iterator((start + MINUTE).timestamp(), cron.expanded, "UTC")
        assert cron.next_fire(start, "UTC").timestamp() == next(theirs).timestamp(), text
    # Where one of two day fields begins with a star, Dagster takes either day, and shows no schedule of it.
    assert parse("0 0 1 * */2").read_otherwise


# --- edges ------------------------------------------------------------------------------


def test_next_is_strictly_after_and_previous_may_be_at() -> None:
    six = instant("2026-03-09T06:00")
    cron = parse("0 6 * * *")
    assert cron.next_fire(six - timedelta(microseconds=1), "UTC") == six
    assert cron.next_fire(six, "UTC") == six + timedelta(days=1)
    assert cron.previous_fire(six, "UTC") == six
    assert cron.previous_fire(six - timedelta(microseconds=1), "UTC") == six - timedelta(days=1)


def test_leap_days_are_found_across_a_century_that_has_none() -> None:
    cron = parse("0 0 29 2 *")
    assert cron.next_fire(instant("2096-03-01"), "UTC") == instant("2104-02-29")
    assert cron.previous_fire(instant("2104-02-28"), "UTC") == instant("2096-02-29")


def test_the_calendar_ends() -> None:
    with pytest.raises(OverflowError):
        parse("0 0 1 1 *").next_fire(instant("9999-06-01"), "UTC")
    with pytest.raises(OverflowError):
        parse("0 0 1 7 *").previous_fire(instant("0001-06-01"), "UTC")
    with pytest.raises(OverflowError):
        parse("0 0 1 * *").next_fire(instant("9999-12-20"), "UTC")
    with pytest.raises(OverflowError):
        parse("0 0 31 * *").previous_fire(instant("0001-01-20"), "UTC")


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="naive"):
        parse("@daily").next_fire(datetime(2026, 3, 9), "UTC")
