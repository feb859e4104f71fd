"""Data that is expected: a period of a dataset that has not landed by its deadline is late, once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.scheduler.tick.expecting import BY_SHOP, DAILY, HEAD, SCHEDULES, Expecting, late_now, shown
from tests.worlds.by import CLI
from tests.worlds.world import app_of, at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.decision.expected.judgement import expected_of
from tidegate.scheduler.decision.expected.periods import CATCH_UP_PERIODS_MAX
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS, LATE_TOTALS
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.tick.tick import tick


def test_a_day_that_has_not_landed_is_late_once() -> None:
    world = Expecting(DAILY)
    for time in ("1d 07:59", "1d 08:00", "1d 08:01", "1d 20:00"):
        world.tick(time)
    assert world.late() == [("03-11 08:00", "2026-03-10")]
    (entry,) = world.entries("late")
    assert entry.reason == "L-DATASET"
    assert entry.data["dataset"] == "a/raw"


def test_at_the_deadline_it_is_in_time() -> None:
    world = Expecting(DAILY)
    world.tick("1d 07:50")
    world.arrive("1d 08:00", "raw", "2026-03-10")
    world.tick("1d 08:05")
    assert world.late() == []


def test_what_lands_after_all_is_noted_and_late_no_longer() -> None:
    world = Expecting(DAILY)
    world.tick("1d 08:00")
    assert [each.period for each in late_now(world)] == ["2026-03-10"]
    world.arrive("1d 11:00", "raw", "2026-03-10")
    world.tick("1d 11:00")
    assert late_now(world) == ()
    (entry,) = world.entries("landed")
    assert (shown(entry.at), entry.data["key"]) == ("03-11 11:00", "2026-03-10")
    world.arrive("1d 12:00", "raw", "2026-03-10")
    world.tick("1d 12:00")
    assert len(world.entries("landed")) == 1, "it is published again"


def test_a_day_before_the_first_expected_one_changes_nothing() -> None:
    world = Expecting(DAILY)
    world.arrive("09:00", "raw", "2026-03-01")
    world.tick("12:00")
    with world.store.reading() as reader:
        assert reader.records(EXPECTED_PERIODS, dataset="a/raw", period=["2026-03-01"]) == ()
    assert world.entries("landed") == world.late() == []


def test_a_period_is_late_until_all_its_parts_have_landed() -> None:
    world = Expecting(BY_SHOP)
    world.arrive("12:00", "raw", "2026-03-10|north")
    world.tick("1d 08:00")
    (entry,) = world.entries("late")
    assert (entry.data["key"], entry.data["missing"]) == ("2026-03-10", ["2026-03-10|south"])
    world.arrive("1d 09:00", "raw", "2026-03-10|north")
    world.tick("1d 09:00")
    assert world.entries("landed") == []
    world.arrive("1d 10:00", "raw", "2026-03-10|south")
    world.tick("1d 10:00")
    assert len(world.entries("landed")) == 1


@pytest.mark.parametrize(
    ("raw", "zone", "late"),
    [
        (DAILY, "America/New_York", "03-10 12:00"),
        ("{partitions: {cycle: day, start: 2026-01-01}, deadline: 2h}", "UTC", "03-11 02:00"),
        ("{partitions: {cycle: day, start: 2026-01-01}, deadline: '00:00'}", "UTC", "03-11 00:00"),
        (
            "{partitions: {cycle: day, start: 2026-01-01, timezone: Asia/Tokyo}, deadline: '08:00'}",
            "UTC",
            "03-10 23:00",
        ),
    ],
)
def test_the_deadline_of_the_first_day_that_ends_after_the_deployment(raw: str, zone: str, late: str) -> None:
    world = Expecting(raw, zone)
    for hours in range(3 * 24):
        world.tick(f"{hours // 24}d {hours % 24:02}:00")
    assert world.late()[0][0] == late


@pytest.mark.parametrize(
    ("start", "late"),
    [
        ("2026-03-28 12:00", "2026-03-29 01:00"),  # 02:30 is in the gap of Berlin: the first instant after it
        ("2026-10-24 12:00", "2026-10-25 00:30"),  # 02:30 comes twice: the first of them
    ],
)
def test_a_deadline_on_days_of_clock_changes(start: str, late: str) -> None:
    begins = datetime.fromisoformat(start).replace(tzinfo=UTC)
    app = Expecting("{partitions: {cycle: day, start: 2026-01-01}, deadline: '02:30'}", "Europe/Berlin").app
    data = expected_of(app, app.datasets["raw"], None, begins)
    assert data is not None and data.due_at == datetime.fromisoformat(late).replace(tzinfo=UTC)


def test_several_periods_may_have_one_deadline() -> None:
    world = Expecting("{partitions: {cycle: hour, start: 2026-01-01-00:00}, deadline: '08:00'}")
    world.arrive("03:00", "raw", "2026-03-10-03:00")
    world.tick("08:00")
    keys = [key for _, key in world.late()]
    assert keys == [f"2026-03-10-{hour:02}:00" for hour in range(8) if hour != 3]
    assert {when for when, _ in world.late()} == {"03-10 08:00"}


@pytest.mark.parametrize("pace", [1, 5, 7, 14])
def test_a_tick_of_any_pace_decides_the_same(pace: int) -> None:
    world = Expecting("{partitions: {cycle: hour, start: 2026-01-01-00:00}, deadline: 10m}")
    landed = {"01:09": "00:00", "02:10": "01:00", "03:11": "02:00"}
    for minute in range(0, 5 * 60, pace):
        now = f"{minute // 60:02}:{minute % 60:02}"
        for clock in [each for each in landed if each <= now]:
            world.arrive(clock, "raw", f"2026-03-10-{landed.pop(clock)}")
        world.tick(now)
    world.tick("05:00")
    assert world.late() == [("03-10 03:10", "2026-03-10-02:00"), ("03-10 04:10", "2026-03-10-03:00")]


def test_what_another_scheduler_has_noted_whose_clock_is_ahead_has_landed() -> None:
    world = Expecting(DAILY)
    world.return_at("1d 06:00")
    world.land("1d 10:05", "1d 10:05", "2026-03-10")
    world.change("1d 10:06", DAILY.replace("{partitions", "{description: another, partitions"))
    world.suspend("1d 10:06", "s")
    for clock in ("1d 10:03", "1d 10:04"):
        world.return_at(clock)
    assert len(world.late()) == 1
    assert late_now(world) == ()


def test_what_had_landed_before_the_deadline_was_deployed_has_landed() -> None:
    world = Expecting("{partitions: {cycle: day, start: 2026-01-01}}")
    world.arrive("10:00", "raw", "2026-03-10")
    world.tick("10:00")
    world.change("11:00", DAILY)
    world.tick("1d 08:00")
    assert world.late() == []


def test_a_changed_deadline_is_about_the_next_period_and_a_removed_one_about_none() -> None:
    world = Expecting(DAILY)
    world.tick("1d 07:00")
    world.change("1d 07:00", DAILY.replace("08:00", "10:00"))
    world.tick("1d 09:59")
    assert world.late() == []
    world.tick("1d 10:00")
    assert world.late() == [("03-11 10:00", "2026-03-10")]
    world.change("1d 11:00", "{partitions: {cycle: day, start: 2026-01-01}}")
    world.tick("3d 12:00")
    assert len(world.late()) == 1
    assert late_now(world) == ()


def test_a_deployment_that_does_not_change_the_deadline_changes_nothing() -> None:
    world = Expecting(DAILY)
    world.tick("1d 08:00")
    with world.store.reading() as reader:
        before = reader.records(EXPECTED_DATA)
    world.change("1d 09:00", DAILY.replace("{partitions", "{description: another, partitions"))
    with world.store.reading() as reader:
        assert reader.records(EXPECTED_DATA) == before
    assert len(late_now(world)) == 1


def test_after_a_downtime_what_landed_in_time_is_not_late_although_it_is_read_late() -> None:
    world = Expecting(DAILY)
    world.return_at("1d 06:00")
    world.return_at("1d 10:00")
    assert world.late() == [], "what landed meanwhile is being read"
    world.land("1d 07:00", "1d 10:00:30", "2026-03-10")
    for clock in ("1d 10:00:30", "1d 10:01", "1d 10:02"):
        world.return_at(clock)
    assert world.late() == []


def test_after_a_downtime_the_missed_deadlines_are_judged_up_to_a_limit() -> None:
    world = Expecting("{partitions: {cycle: minute, start: 2026-01-01-00:00}, deadline: 1m}")
    world.return_at("00:00")
    world.return_at("9d 00:00")
    for clock in ("9d 00:01", "9d 00:01:05", "9d 00:01:10"):
        world.return_at(clock)
    keys = [key for _, key in world.late()]
    assert len(keys) <= CATCH_UP_PERIODS_MAX + 2
    assert keys[-1] == "2026-03-18-23:59"


def test_the_totals_count_what_was_late() -> None:
    world = Expecting(DAILY)
    for day in range(1, 4):
        world.tick(f"{day}d 08:00")
        world.tick(f"{day}d 08:02")
    with world.store.reading() as reader:
        (total,) = reader.records(LATE_TOTALS)
    assert (total.kind, total.name, total.number) == ("dataset", "a/raw", 3)


def test_a_key_that_the_dataset_does_not_have_lands_nowhere() -> None:
    world = Expecting(DAILY)
    world.arrive("10:00", "raw", "nonsense", "2025-01-01")
    world.tick("1d 08:00")
    assert len(world.late()) == 1


def test_a_renamed_dataset_goes_on_with_what_is_expected_and_what_was_late() -> None:
    world = Expecting(DAILY)
    world.tick("1d 08:00")
    renamed = HEAD.format(raw=DAILY, zone="UTC").replace("  raw: {", "  orders: {renamed_from: raw, ")
    world.compiled = lambda text: app_of(text, renamed.replace("reads: [raw]", "reads: [orders]"))
    world.redeploy("1d 09:00", SCHEDULES.replace("dataset: raw", "dataset: orders"))
    with world.store.reading() as reader:
        assert [each.dataset for each in reader.records(EXPECTED_DATA)] == ["a/orders"]
        assert [(each.kind, each.name) for each in reader.records(LATE_TOTALS)] == [("dataset", "a/orders")]
    assert [(each.dataset, each.period) for each in late_now(world)] == [("a/orders", "2026-03-10")]
    world.arrive("1d 10:00", "orders", "2026-03-10")
    world.tick("1d 10:00")
    assert late_now(world) == ()
    world.tick("2d 08:00")
    assert [key for _, key in world.late()] == ["2026-03-10", "2026-03-11"]


def test_a_removed_app_leaves_nothing_that_is_expected() -> None:
    world = Expecting(DAILY)
    world.tick("1d 08:00")
    with world.store.transaction() as transaction:
        deploy(transaction, {}, at("1d 09:00"), force=True, by=CLI)
        assert transaction.records(EXPECTED_DATA) == ()
    world.tick("3d 08:00")
    assert len(world.late()) == 1


def test_retention_drops_old_late_periods_and_keeps_the_totals() -> None:
    world = Expecting(DAILY)
    for day in (1, 2, 3):
        world.tick(f"{day}d 08:00")
    with world.store.transaction() as transaction:
        assert transaction.drop_old(EXPECTED_PERIODS, at("2d 12:00"), 10) == 2
    assert [each.period for each in late_now(world)] == ["2026-03-12"]
    with world.store.reading() as reader:
        assert [each.number for each in reader.records(LATE_TOTALS)] == [3]


def test_two_schedulers_note_a_period_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    one, other = open_sql_store(url), open_sql_store(url)
    world = Expecting(DAILY, store=one)
    for clock in ("07:50", "07:59", "08:00", "08:00:01"):
        for store in (one, other):
            tick(store, at(f"1d {clock}"))
    assert world.late() == [("03-11 08:00", "2026-03-10")]
    with other.reading() as reader:
        assert [each.number for each in reader.records(LATE_TOTALS)] == [1]
    one.close()
    other.close()
