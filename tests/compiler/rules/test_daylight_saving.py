"""The notes of coming clock changes: which crons and windows they touch, and what is said of it."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest

from tests.domain.zones import ZONES
from tidegate.compiler.diagnostics.diagnostic import MAX_DIAGNOSTICS_PER_FILE, Diagnostic, Findings
from tidegate.compiler.rules.times.daylight_saving import (
    DAYS_LOOKED_AHEAD,
    NOTES_PER_APP,
    check_daylight_saving,
)
from tidegate.domain.model import (
    AllTrigger,
    App,
    At,
    Constraint,
    CronTrigger,
    Day,
    PartitionsTrigger,
    Schedule,
    Trigger,
    WindowConstraint,
)
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.fire_times import fires
from tidegate.domain.time.wall_clock import wall_time

TODAY = date(2026, 1, 15)
AT = At(file="a.yaml", line=3, column=5)
BERLIN = "Europe/Berlin"


def app(*parts: Trigger | Constraint) -> App:
    """An app with a schedule for each trigger, and for each constraint."""
    schedules: dict[str, Schedule] = {}
    for number, part in enumerate(parts):
        name = f"s{number:04}"
        placed = msgspec.structs.replace(part, at=At(file="a.yaml", line=number + 1, column=1))
        if isinstance(placed, WindowConstraint):
            trigger, constraints = PartitionsTrigger(dataset="d"), (placed,)
        else:
            trigger, constraints = placed, ()
        schedules[name] = Schedule(name=name, program="p", trigger=trigger, constraints=constraints)
    return App(name="a", schedules=schedules)


def notes(*parts: Trigger | Constraint, today: date = TODAY) -> tuple[Diagnostic, ...]:
    findings = Findings("a.yaml")
    check_daylight_saving(app(*parts), today, findings)
    return findings.diagnostics()


def cron(pattern: str, zone: str = BERLIN) -> CronTrigger:
    return CronTrigger(cron=pattern, timezone=zone)


def window(opens: str, closes: str, *days: Day, zone: str = BERLIN) -> WindowConstraint:
    return WindowConstraint(
        from_=time.fromisoformat(opens), to=time.fromisoformat(closes), days=days, timezone=zone
    )


SPRING, AUTUMN = "on 2026-03-29 ", "on 2026-10-25 "

EFFECTS = [
    ("a fixed time", cron("30 2 * * *"), SPRING + "there is no 02:30: it runs at 03:00; "),
    ("a fixed time", cron("30 2 * * *"), AUTUMN + "02:30 is repeated: it runs the second time; "),
    ("some times", cron("0,30 2,3 * 3 *"), SPRING + "there is no 02:00 or 02:30: it runs at 03:00; "),
    ("many times", cron("*/10 2 * 3 *"), SPRING + "there is no time from 02:00 to 02:50: it runs at 03:00; "),
    ("the beginning of the hour", cron("0 2 * * *"), SPRING + "there is no 02:00: "),
    (
        "half an hour",
        cron("15 2 * * *", "Australia/Lord_Howe"),
        "2026-10-04 there is no 02:15: it runs at 02:30; ",
    ),
    ("an opening", window("02:30", "06:00"), SPRING + "there is no 02:30: it opens at 03:00; "),
    ("an opening", window("02:30", "06:00"), AUTUMN + "02:00 to 03:00 is repeated: the window opens twice; "),
    ("an end", window("22:00", "02:30"), SPRING + "there is no 02:30: it closes at 03:00; "),
    ("the whole window", window("02:15", "02:45"), SPRING + "it does not open: 02:00 is followed by 03:00; "),
    ("the whole hour", window("02:00", "03:00"), SPRING + "it does not open: "),
    ("the end on a Sunday opened before", window("22:00", "02:30", "sat"), SPRING + "there is no 02:30: "),
]


@pytest.mark.parametrize(("sentence", "part", "says"), EFFECTS, ids=[f"{r[0]} {r[2][3:13]}" for r in EFFECTS])
def test_what_is_touched_is_told(sentence: str, part: Trigger | Constraint, says: str) -> None:
    (note,) = notes(part)
    assert (note.code, note.severity, note.at.line) == ("L420", "note", 1)
    assert says in note.hint
    assert note.hint.endswith("choose another hour, or `timezone: UTC`")


LEFT_ALONE = [
    ("every hour", cron("30 * * * *")),
    ("hours in steps", cron("30 */2 * * *")),
    ("another hour", cron("30 4 * * *")),
    ("the hour before", cron("59 1 * * *")),
    ("the hour after", cron("0 3 * * *")),
    ("other days", cron("30 2 * * 1-6")),
    ("other months", cron("30 2 * 5-9 *")),
    ("a zone without changes", cron("30 2 * * *", "Asia/Kolkata")),
    ("a window at the edges", window("02:00", "06:00")),
    ("a window until the edge", window("22:00", "03:00")),
    ("a window over all of it", window("22:00", "06:00")),
    ("a window that opens on other days", window("02:30", "06:00", "mon", "sat")),
    ("a window that has ended on that day", window("22:00", "02:30", "sun")),
    ("a trigger without a clock", PartitionsTrigger(dataset="d")),
]


@pytest.mark.parametrize(("sentence", "part"), LEFT_ALONE, ids=[row[0] for row in LEFT_ALONE])
def test_what_is_left_alone_is_not_mentioned(sentence: str, part: Trigger | Constraint) -> None:
    assert notes(part) == ()


def test_a_day_that_a_zone_skips_is_told_with_its_date() -> None:
    (note,) = notes(cron("0 12 * * *", "Pacific/Apia"), today=date(2011, 10, 1))
    assert "on 2011-12-30 there is no 12:00: it runs at 00:00 of 2011-12-31" in note.hint


def test_only_coming_dates_are_told_and_today_is_one() -> None:
    change = date(2026, 3, 29)
    for today, first in ((change, "2026-03-29"), (change + timedelta(days=1), "2026-10-25")):
        (note,) = notes(cron("30 2 * * *"), today=today)
        assert f"got {first}" in note.summary
    assert "2027-03-28" in notes(cron("30 2 * * *"), today=date(2027, 3, 28))[0].summary


def test_crons_within_others_are_told_where_they_stand() -> None:
    inner = cron("30 2 * * *")
    both = AllTrigger(of=(cron("0 6 * * *"), msgspec.structs.replace(inner, at=AT)))
    (note,) = notes(both)
    assert note.at == AT


def test_parts_without_a_place_are_not_told() -> None:
    schedule = Schedule(
        name="s", program="p", trigger=cron("30 2 * * *"), constraints=(window("02:30", "06:00"),)
    )
    findings = Findings("a.yaml")
    check_daylight_saving(App(name="a", schedules={"s": schedule}), TODAY, findings)
    assert findings.diagnostics() == ()


def test_of_many_notes_some_are_shown_and_the_rest_is_counted() -> None:
    found = notes(*[cron("30 2 * * *")] * (NOTES_PER_APP + 5))
    assert len(found) == NOTES_PER_APP
    assert found[-1].hint.endswith("; 5 more crons and windows of this app are affected")
    assert "more" not in found[-2].hint


def test_notes_never_push_a_file_over_the_limit_of_diagnostics() -> None:
    findings = Findings("a.yaml")
    for line in range(MAX_DIAGNOSTICS_PER_FILE):
        findings.add("V209", At(file="a.yaml", line=line + 100, column=1), "one, got two", "delete one")
    check_daylight_saving(app(cron("30 2 * * *")), TODAY, findings)
    assert [d.code for d in findings.diagnostics()] == ["V209"] * MAX_DIAGNOSTICS_PER_FILE


@pytest.mark.parametrize("zone", ZONES)
def test_a_cron_is_told_of_exactly_on_the_dates_on_which_it_does_not_fire_as_it_is_written(zone: str) -> None:
    begin = datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC)
    for hour in range(24):
        for minute in (0, 20, 45):
            trigger = cron(f"{minute} {hour} * * *", zone)
            written = time(hour, minute)
            # given the dates of a year on which the clocks show another time, or the same time twice
            odd = {
                change.changed[0].date()
                for change in clock_changes(zone, begin, begin + timedelta(days=DAYS_LOOKED_AHEAD))
                for fire in fires(trigger, change.at - timedelta(hours=30), change.at + timedelta(hours=30))
                if wall_time(fire, zone).time() != written or fire.astimezone(ZoneInfo(zone)).fold == 1
            }
            # then these are the dates of the note
            found = notes(trigger)
            named = {day for day in odd if found and str(day) in found[0].summary}
            assert named == odd, (trigger, odd, found)
            assert bool(found) == bool(odd)
