"""I asked for every missed run after a day of outage, and the oldest hours are nowhere: not run, not skipped.

A cron of every minute is away for days; each of its fires has a job or is counted as expired.
"""

from datetime import UTC, datetime

import pytest

from tests.worlds.world import World, at
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import CronTrigger
from tidegate.domain.time.fire_times import count_fires
from tidegate.scheduler.decision import missed
from tidegate.scheduler.simulation.play import play

DAY = 24 * 60
ON_TIME = 2
"""Of the fires of a day, that many are not older than two minutes at the return, and join one job."""

MISSED = DAY - ON_TIME
EXAMPLE = """
app: a
programs: {p: {run: programs.p}}
schedules:
  m:
    program: p
    trigger: {cron: "* * * * *", catch_up: CATCH_UP}
    constraints: [{concurrency: {max: 5000}}]
    status: active
examples:
  - name: it
    start: 2026-03-01T00:00:30Z
    given: [{at: +0s, down: 24h}]
    until: +24h
    expect: EXPECT
"""


def every_minute(catch_up: str) -> World:
    return World(
        f'm: {{program: q, status: active, trigger: {{cron: "* * * * *", catch_up: {catch_up}}}}}',
        start="00:00:01",
    )


def test_each_minute_of_a_day_gets_a_job_a_thousand_a_tick() -> None:
    world = every_minute("all")
    world.tick("1d 00:00:30")
    assert len(world.jobs("m")) == 1_000 + 1
    first = {job.first_event_at for job in world.jobs("m") if job.closed}
    assert first == {at(f"{minute // 60:02}:{minute % 60:02}") for minute in range(1, 1_001)}
    world.tick("1d 00:00:35")
    assert len(world.jobs("m")) == MISSED + 1
    world.tick("1d 00:00:40")
    assert len(world.jobs("m")) == MISSED + 1


def test_in_an_example_all_are_run_at_the_return() -> None:
    text = EXAMPLE.replace("CATCH_UP", "all").replace("EXPECT", "[]")
    app = compile_files({"a.yaml": text.encode()}).apps["a"]
    found = play(app.scenarios[0], app, read_file=lambda name: b"")
    launched = [moment.when for moment in found.moments if moment.kind == "launched"]
    assert len(launched) == MISSED + 1
    assert len(set(launched)) == 1


@pytest.mark.parametrize("catch_up", ["latest", "none"])
def test_what_does_not_run_is_one_row_and_counted(catch_up: str) -> None:
    world = every_minute(catch_up)
    world.tick("1d 00:00:30")
    row = world.ledger("m")
    assert (row.discarded, row.pending, row.landed) == ({"D-EXPIRED": MISSED}, ON_TIME, DAY)
    with world.store.reading() as reader:
        rows = [event for event in reader.events(key_prefix="fire:") if event.expired]
    assert [(each.first_at, each.time, each.number) for each in rows] == [(at("00:01"), at("23:58"), MISSED)]


def test_simulate_says_how_many() -> None:
    text = EXAMPLE.replace("CATCH_UP", "latest").replace("EXPECT", "[]")
    app = compile_files({"a.yaml": text.encode()}).apps["a"]
    found = play(app.scenarios[0], app, read_file=lambda name: b"")
    (summary,) = found.summary
    assert summary.events["D-EXPIRED"] == MISSED
    (dropped,) = [moment.text for moment in found.moments if moment.kind == "dropped"]
    assert dropped == "1,438 events"


def test_each_absence_has_a_row_of_its_own() -> None:
    world = every_minute("none")
    world.tick("06:00:30")
    world.tick("06:01:30")
    world.tick("12:01:30")
    with world.store.reading() as reader:
        numbers = [event.number for event in reader.events(key_prefix="fire:") if event.expired]
    assert numbers == [358, 358]


def test_years_are_counted_without_listing_them() -> None:
    cron = CronTrigger(cron="* * * * *", timezone="UTC")
    begun, end = datetime(2016, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert count_fires(cron, begun, end) == (end - begun).days * DAY
    found = missed.judge_fires(CronTrigger(cron="* * * * *", timezone="UTC", catch_up="all"), begun, end)
    assert found.own is not None and found.expired is not None
    assert count_fires(cron, found.own.after, found.own.until) == missed.CAUGHT_UP_MAX
    on_time = len(found.joining)
    assert found.expired.number + missed.CAUGHT_UP_MAX + on_time == (end - begun).days * DAY
