"""A tick replays the instants between the engine's clock and now: each decision is as of its own instant."""

from datetime import timedelta

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.tick import due, due_rows
from tidegate.scheduler.tick.clock import AWAY_AFTER, engine_clock, last_tick

FIRST = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}"
SKIPS = (
    "s: {program: q, status: active, trigger: {partitions: {dataset: raw}},"
    ' constraints: [{window: {from: "05:00", to: "06:00", otherwise: skip}}]}'
)
FIVE = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 5}}}"


def decided(world: World) -> list[tuple[str, tuple[str, ...]]]:
    """Each job's instant of decision and the keys it was launched for."""
    return [
        (f"{job.decided_at:%H:%M}", job.launch.manifest.get("raw", ()))
        for job in world.jobs("s")
        if job.launch is not None and job.decided_at is not None
    ]


def test_what_came_one_after_the_other_is_decided_one_after_the_other():
    world = World(FIRST)
    world.tick("10:00")
    world.arrive("10:02", "raw", "2026-03-01")
    world.arrive("10:05", "raw", "2026-03-02")
    world.tick("10:10")
    assert decided(world) == [("10:02", ("2026-03-01",)), ("10:05", ("2026-03-02",))]


def test_a_window_is_judged_at_the_instant_of_the_arrival():
    world = World(SKIPS)
    world.tick("05:55")
    world.arrive("05:59", "raw", "2026-03-01")
    world.arrive("06:01", "raw", "2026-03-02")
    world.tick("06:05")
    assert decided(world) == [("05:59", ("2026-03-01",))]
    assert world.outcome("s") == ("DISCARDED", "D-WINDOW")


def test_a_scheduler_that_was_away_reads_everything_at_its_return():
    world = World(FIRST)
    world.tick("10:00")
    world.arrive("10:02", "raw", "2026-03-01")
    world.arrive("10:05", "raw", "2026-03-02")
    world.tick("10:16")
    assert decided(world) == [("10:16", ("2026-03-01", "2026-03-02"))]
    assert world.only("s").satisfied_at == at("10:02")


def test_what_a_person_does_finds_done_what_belongs_before_it():
    world = World(FIRST)
    world.tick("10:00")
    world.arrive("10:02", "raw", "2026-03-01")
    world.suspend("10:05", "s")
    world.arrive("10:06", "raw", "2026-03-02")
    world.tick("10:10")
    assert decided(world) == [("10:02", ("2026-03-01",))]
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1}


def test_a_slot_is_free_from_the_instant_at_which_its_run_ended():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{concurrency: {max: 1, otherwise: skip}}]}"
    )
    world.tick("10:00")
    world.run("10:00", "q", "started", "by-hand")
    world.arrive("10:02", "raw", "2026-03-01")
    world.arrive("10:05", "raw", "2026-03-02")
    world.run("10:04", "q", "succeeded", "by-hand")
    world.tick("10:10")
    assert decided(world) == [("10:05", ("2026-03-02",))]


def test_what_comes_late_belongs_to_the_instant_of_the_clock():
    world = World(FIRST)
    world.tick("10:00")
    world.arrive("10:05", "raw", "2026-03-02")
    world.tick("10:05")
    world.arrive("10:01", "raw", "2026-03-01")
    world.tick("10:06")
    assert decided(world) == [("10:05", ("2026-03-02",)), ("10:05", ("2026-03-01",))]


def test_a_wall_clock_set_back_a_little_does_not_set_back_the_engine():
    world = World(FIRST)
    world.tick("10:00")
    world.tick("10:10")
    world.arrive("10:07", "raw", "2026-03-01")
    world.tick("10:08")
    assert decided(world) == [("10:10", ("2026-03-01",))]


def test_a_wall_clock_set_back_far_starts_the_engine_anew_from_there():
    world = World(FIRST)
    world.tick("12:00")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    assert decided(world) == [("10:00", ("2026-03-01",))]


def test_an_idle_tick_writes_nothing():
    world = World(FIRST)
    world.tick("10:00:00")
    world.tick("10:00:59")
    with world.store.reading() as reader:
        assert engine_clock(reader) == at("10:00")
    world.tick("10:01:01")
    with world.store.reading() as reader:
        assert engine_clock(reader) == at("10:01:01")


def test_what_a_person_does_moves_the_clock_and_is_no_tick():
    world = World(FIRST)
    with world.store.reading() as reader:
        assert last_tick(reader) is None
    world.tick("10:00")
    world.suspend("10:05", "s")
    with world.store.reading() as reader:
        assert engine_clock(reader) == at("10:05") - due.MICROSECOND
        assert last_tick(reader) == at("10:00")


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_a_page_that_is_full_ends_before_what_it_may_lack(rows, monkeypatch):
    def history(spec: str) -> list[tuple[str, tuple[str, ...]]]:
        world = World(spec)
        world.tick("10:00")
        for minute in (1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 6):
            world.arrive(f"10:0{minute}", "raw", f"2026-03-{minute:02}")
        world.tick("10:10")
        return decided(world)

    whole = [history(spec) for spec in (FIRST, FIVE)]
    monkeypatch.setattr(due_rows, "ROWS_PER_PAGE", rows)
    assert [history(spec) for spec in (FIRST, FIVE)] == whole


def test_nothing_that_a_person_does_has_an_effect_before_it_is_done():
    world = World(FIRST)
    world.tick("10:00:00")
    world.tick("10:00:50")
    world.suspend("10:00:55", "s")
    world.resume("10:00:56", "s")
    with world.store.reading() as reader:
        assert engine_clock(reader) == at("10:00:56") - timedelta(microseconds=1)


def test_the_engine_was_away_only_after_more_than_its_bound():
    world = World(FIRST)
    world.tick("10:00")
    world.arrive("10:01", "raw", "2026-03-01")
    world.arrive("10:02", "raw", "2026-03-02")
    world.tick(f"{at('10:00') + AWAY_AFTER:%H:%M}")
    assert len(decided(world)) == 2
    assert timedelta(minutes=10) < AWAY_AFTER
