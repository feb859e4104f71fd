"""My new data came at the very second at which an old job was discarded, and went down with it.

Each test is the life of one schedule whose job is discarded by the engine at an instant at which something
arrives.
"""

import pytest

from tests.worlds.world import World
from tidegate.scheduler.model.job import JobState

ALONE = "constraints: [{concurrency: {max: 1}}]"
HELD = f"h: {{program: p, trigger: {{partitions: {{dataset: raw}}}}, {ALONE}, timeout: 1h, status: active}}"
HALF = """
h:
  program: q
  trigger: {partitions: {dataset: raw, count: 2}}
  timeout: {after: 1h, from: first_event}
  status: active
"""
SKIPPED = """
h:
  program: q
  trigger: {partitions: {dataset: raw}}
  constraints: [{delay: 1h}, {load: {gauge: busy, max: 1, otherwise: skip}}]
  status: active
"""


def collected(world: World, job: str) -> list[str]:
    with world.store.reading() as reader:
        return [each.event.partition for each in reader.deliveries([job])[job]]


def ends(world: World) -> list[tuple[str, list[str]]]:
    """Each job, with its state or its reason, and what it has collected."""
    jobs = sorted(world.jobs("h"), key=lambda job: (job.first_event_at, job.opened_at))
    return [(str(job.reason or job.state), collected(world, job.id)) for job in jobs]


def test_what_comes_at_the_instant_of_a_timeout_is_not_discarded_with_it() -> None:
    world = World(HELD)
    world.run("00:00", "p", "started", "by-hand")
    world.arrive("01:00", "raw", "2026-03-01")
    world.arrive("01:30", "raw", "2026-03-02")
    world.arrive("02:00", "raw", "2026-03-03")
    world.tick("02:00")
    assert ends(world) == [
        ("D-TIMEOUT", ["2026-03-01", "2026-03-02"]),
        ("W-CONCURRENCY", ["2026-03-03"]),
    ]
    world.run("02:10", "p", "succeeded", "by-hand")
    world.tick("02:10")
    (launched,) = world.jobs("h", JobState.PENDING_LAUNCH)
    assert launched.launch.manifest == {"raw": ("2026-03-03",)}


def test_it_is_counted_once() -> None:
    world = World(HELD)
    world.run("00:00", "p", "started", "by-hand")
    world.arrive("01:00", "raw", "2026-03-01")
    world.arrive("02:00", "raw", "2026-03-03")
    world.tick("02:00")
    row = world.ledger("h")
    assert (row.pending, row.discarded) == (1, {"D-TIMEOUT": 1})


def test_a_slot_that_is_free_at_that_instant_launches_all_of_it() -> None:
    world = World(HELD)
    world.run("00:00", "p", "started", "by-hand")
    world.arrive("01:00", "raw", "2026-03-01")
    world.arrive("02:00", "raw", "2026-03-03")
    world.run("02:00", "p", "succeeded", "by-hand")
    world.tick("02:00")
    assert world.only("h").launch.manifest == {"raw": ("2026-03-01", "2026-03-03")}


def test_what_satisfies_the_trigger_at_that_instant_launches_all_of_it() -> None:
    world = World(HALF)
    world.arrive("01:00", "raw", "2026-03-01")
    world.arrive("02:00", "raw", "2026-03-02")
    world.tick("02:00")
    assert world.only("h").launch.manifest == {"raw": ("2026-03-01", "2026-03-02")}


def test_a_timeout_that_runs_takes_it() -> None:
    run = HELD.replace("timeout: 1h", "timeout: {after: 1h, then: run}")
    world = World(run.replace(ALONE, "constraints: [{delay: 5h}]"))
    world.arrive("01:00", "raw", "2026-03-01")
    world.arrive("02:00", "raw", "2026-03-03")
    world.tick("02:00")
    assert world.only("h").launch.manifest == {"raw": ("2026-03-01", "2026-03-03")}


def test_a_job_that_consists_of_it_alone_is_discarded() -> None:
    world = World(SKIPPED.replace("{delay: 1h}, ", ""))
    world.report("00:00", busy=5)
    world.arrive("01:00", "raw", "2026-03-01")
    world.tick("01:00")
    assert ends(world) == [("D-LOAD", ["2026-03-01"])]


def test_what_comes_at_the_instant_of_a_skip_waits_for_its_own_delay() -> None:
    world = World(SKIPPED)
    world.report("00:00", busy=5)
    world.arrive("01:00", "raw", "2026-03-01")
    world.arrive("02:00", "raw", "2026-03-02")
    world.tick("02:00")
    assert ends(world) == [("D-LOAD", ["2026-03-01"]), ("W-DELAY", ["2026-03-02"])]
    world.report("02:30", busy=0)
    world.tick("03:00")
    (launched,) = world.jobs("h", JobState.PENDING_LAUNCH)
    assert launched.launch.manifest == {"raw": ("2026-03-02",)}


@pytest.mark.parametrize("clock", ["02:00", "03:30"])
def test_after_a_downtime_what_came_at_the_deadline_or_later_is_not_discarded(clock: str) -> None:
    world = World(HALF)
    world.arrive("01:00", "raw", "2026-03-01")
    world.tick("01:00")
    world.arrive(clock, "raw", "2026-03-01")
    world.tick("04:00")
    # Came at two, it was discarded itself at three.
    own = {"02:00": "D-TIMEOUT", "03:30": "W-TRIGGER"}[clock]
    assert ends(world) == [("D-TIMEOUT", ["2026-03-01"]), (own, ["2026-03-01"])]


def test_a_person_discards_all_of_it() -> None:
    world = World(HELD)
    world.run("00:00", "p", "started", "by-hand")
    world.arrive("01:00", "raw", "2026-03-01")
    world.tick("01:00")
    job = world.only("h").id
    world.arrive("01:30", "raw", "2026-03-02")
    world.tick("01:30")
    world.cancel("01:30", job)
    assert ends(world) == [("D-CANCELLED", ["2026-03-01", "2026-03-02"])]


def test_with_keys_it_stays_with_its_key() -> None:
    world = World(HELD.replace("status", "for_each: day, status"))
    world.run("00:00", "p", "started", "by-hand")
    world.arrive("01:00", "raw", "2026-03-01", "2026-03-02")
    world.arrive("02:00", "raw", "2026-03-02")
    world.tick("02:00")
    keys = [(job.key, str(job.reason)) for job in world.jobs("h")]
    assert sorted(keys) == [
        ("2026-03-01", "D-TIMEOUT"),
        ("2026-03-02", "D-TIMEOUT"),
        ("2026-03-02", "W-CONCURRENCY"),
    ]
