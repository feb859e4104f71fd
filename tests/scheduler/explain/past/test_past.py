"""`why --at`: read from the journal later, a past moment looks as it did then.

Every history below is lived through with a witness, who asks `why` about every schedule and every job
after each tick. At the end the same is asked about each of those instants, from the journal alone.
"""

from datetime import datetime

import pytest

from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tests.worlds.witness import Witness, shown
from tests.worlds.world import at
from tidegate.scheduler.commands.gauge import report_gauges
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.dead_letter import requeue
from tidegate.scheduler.launch.outbox import OFFERS_MAX

DATA = """
s:
  program: q
  status: active
  trigger: {all: [{partitions: {dataset: raw, count: 2}}, {run: {program: r}}], quiet: 5m}
  constraints:
    - delay: 10m
    - concurrency: {max: 1}
    - rate: {max: 1, per: 1h}
    - load: {gauge: cpu, max: 80}
    - since_last_run: {for: 30m}
"""


def lived_with_data(world: Witness) -> None:
    world.tick("09:59")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    world.run("10:05", "r", "succeeded", "up-1")
    world.arrive("10:06", "raw", "2026-03-02")
    for clock in ("10:06", "10:08", "10:11", "10:21"):
        world.tick(clock)
    world.launch_all("10:22")
    world.tick("10:22")
    world.arrive("10:30", "raw", "2026-03-03", "2026-03-04")
    world.run("10:31", "r", "succeeded", "up-2")
    world.tick("10:31")
    with world.store.transaction() as transaction:
        report_gauges(transaction, {"cpu": 90}, at("10:40"), by=CLI)
    for clock in ("10:40", "10:50"):
        world.tick(clock)
    (first,) = [job.id for job in world.jobs("s") if job.state == "LAUNCHED"]
    world.end("11:00", first)
    for clock in ("11:00", "11:21", "11:30"):
        world.tick(clock)
    with world.store.transaction() as transaction:
        report_gauges(transaction, {"cpu": 10}, at("11:31"), by=CLI)
    world.run("11:31", "q", "started", "by-hand")
    world.tick("11:31")
    world.run("11:35", "q", "failed", "by-hand")
    for clock in ("11:35", "12:00"):
        world.tick(clock)


def test_data_constraints_gauges_and_runs_from_elsewhere():
    world = Witness(DATA)
    lived_with_data(world)
    assert_recalled(world)


def assert_recalled(world: Witness) -> None:
    assert world.seen
    pasts: dict[datetime, ReferenceStore] = {}
    for instant, name, then in world.seen:
        if instant not in pasts:
            with world.store.reading() as reader:
                pasts[instant] = store_at(reader, instant)
        with pasts[instant].reading() as reader:
            assert shown(explain(reader, name, instant)) == then, f"{name} at {instant}"


def test_crons_clocks_and_catch_ups():
    world = Witness("""
s: {program: q, status: active, trigger: {any: [{cron: "0 6,9 * * *"}, {elapsed: {for: 4h}}]}}
t: {program: r, status: active, trigger: {elapsed: {for: 2h, since: last_event, dataset: raw}}}
""")
    for hour in range(1, 13):
        for minute in (0, 7, 14, 21, 28, 35, 42, 49, 56):
            clock = f"{hour:02}:{minute:02}"
            if clock in ("03:07", "08:14"):
                world.arrive(clock, "raw", "2026-03-09")
            world.tick(clock)
            if minute == 28:
                for job in world.launch_all(f"{hour:02}:30"):
                    world.end(f"{hour:02}:31", job)
    assert_recalled(world)


@pytest.mark.parametrize("mode", ["discard", "drain", "hold", "backlog"])
def test_suspended_and_resumed(mode):
    world = Witness(f"""
s:
  program: q
  status: active
  on_suspend: {mode}
  for_each: partition
  trigger: {{partitions: {{dataset: raw, count: 2, distinct: false}}}}
  constraints: [{{delay: 20m}}]
  timeout: {{after: 40m}}
""")
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02")
    world.tick("10:00")
    world.arrive("10:05", "raw", "2026-03-01")
    world.tick("10:05")
    world.suspend("10:10", "s")
    world.tick("10:10")
    world.arrive("10:15", "raw", "2026-03-02", "2026-03-03")
    for clock in ("10:15", "10:25"):
        world.tick(clock)
    world.resume("10:30", "s")
    for clock in ("10:30", "10:36", "10:50"):
        world.tick(clock)
    assert_recalled(world)


THREE = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 3}}}"


def lived_with_a_dead_letter(world: Witness) -> None:
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    job = world.trigger("10:05", "s")
    world.tick("10:05")
    clocks = ["10:06", "10:10", "10:14", "10:20", "10:27", "10:35", "10:45", "10:55", "11:05"]
    for clock in clocks[: OFFERS_MAX + 1]:
        world.offer_launches(clock)
        world.tick(clock)
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    with world.store.transaction() as transaction:
        requeue(transaction, job.id, at("11:10"), by=CLI)
    world.tick("11:10")
    world.trigger("11:15", "s", force=True)
    world.tick("11:15")
    world.suspend("11:20", "s")
    world.tick("11:20")


def test_by_hand_dead_letters_and_cancelling():
    world = Witness(THREE)
    lived_with_a_dead_letter(world)
    assert_recalled(world)


CARRIED = """
s:
  program: q
  status: active
  on_update: {mode}
  trigger: {trigger}
  constraints: [{{delay: {delay}}}]
"""


@pytest.mark.parametrize("mode", ["carry", "reset"])
def test_schedules_that_change_and_go(mode):
    five = "{partitions: {dataset: raw, count: 5}}"
    either = "{any: [{partitions: {dataset: other}}, {partitions: {dataset: raw, count: 2}}]}"
    world = Witness(CARRIED.format(mode=mode, trigger=five, delay="10m"))
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02")
    world.tick("10:00")
    world.redeploy("10:05", CARRIED.format(mode=mode, trigger=either, delay="10m"))
    world.tick("10:05")
    world.arrive("10:06", "raw", "2026-03-03", "2026-03-04")
    world.tick("10:06")
    world.redeploy("10:08", CARRIED.format(mode=mode, trigger=either, delay="30m"))
    world.tick("10:08")
    world.redeploy("10:12", "t: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.tick("10:12")
    world.redeploy("10:15", CARRIED.format(mode=mode, trigger=five, delay="1m"))
    world.tick("10:15")
    assert_recalled(world)


def test_what_drops_out_one_by_one():
    world = Witness("""
s:
  program: q
  status: active
  trigger:
    all:
      - {partitions: {dataset: raw, count: 2}, collect_within: 10m}
      - {partitions: {dataset: other}, wait_at_most: 25m}
""")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    world.arrive("10:05", "raw", "2026-03-02")
    for clock in ("10:05", "10:09", "10:10", "10:16"):
        world.tick(clock)
    world.arrive("10:20", "raw", "2026-03-03", "2026-03-04")
    for clock in ("10:20", "10:31"):
        world.tick(clock)
    world.arrive("10:35", "other", "2026-03-03")
    world.arrive("10:40", "raw", "2026-03-03", "2026-03-04")
    for clock in ("10:35", "10:40"):
        world.tick(clock)
    assert_recalled(world)
