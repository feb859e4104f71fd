"""Retention keeps what a repair sees, and `why` at a past instant sees it too (rule 30)."""

from datetime import timedelta
from pathlib import Path

from tests.worlds.world import World, at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES
from tidegate.scheduler.retention.prune import prune
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

DAY, BEFORE = "2026-03-09", "2026-03-08"
BOTH = "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}], wait_at_most: 1h}"
JOIN = f"s: {{program: p, status: active, for_each: day, trigger: {BOTH}, repair: {{within: 1d, after: 1h}}}}"
KEEP = Keep(finished_jobs=timedelta(days=1), events=timedelta(days=1), journal=timedelta(days=1))


def launched(tmp_path: Path) -> tuple[World, SqlStore]:
    """A day that was launched early, and one that was whole; both succeeded."""
    store = open_sql_store(f"sqlite:///{tmp_path / 'store.db'}")
    world = World(JOIN, store=store)
    world.arrive("10:00", "raw", DAY, BEFORE)
    world.arrive("10:00", "other", BEFORE)
    for clock in ("10:00", "11:00"):
        world.tick(clock)
        for job in world.launch_all(clock):
            world.end(clock, job)
    return world, store


def test_a_provisional_job_stays_with_its_events_and_a_whole_one_goes_with_its_record(tmp_path: Path) -> None:
    world, store = launched(tmp_path)
    world.tick("9d 12:00")
    prune(store, KEEP, at("9d 12:00"))
    (left,) = world.jobs("s")
    assert left.key == DAY
    with store.reading() as reader:
        assert [each.key for each in reader.records(LAST_LAUNCHES)] == [DAY]
        assert len(reader.deliveries([left.id])[left.id]) == 1


def test_why_at_a_past_instant_sees_what_a_repair_saw(tmp_path: Path) -> None:
    world, store = launched(tmp_path)
    world.arrive("12:00", "raw", DAY)
    world.tick("12:00")
    world.tick("12:30")
    (waiting,) = [job for job in world.jobs("s") if job.launch is None]
    with store.reading() as reader, store_at(reader, at("12:10")).reading() as past:
        (found,) = explain(past, waiting.id, at("12:10"))
        (present,) = explain(reader, waiting.id, at("12:10"))
    assert found.headline == present.headline and "it repairs job" in found.headline
    assert found.trigger is not None and found.trigger == present.trigger
    assert found.trigger.holds_at == at("13:00")
