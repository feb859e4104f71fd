"""An end of a run decides the heads of queues only: the result is that of deciding every job that is blocked.

The same inputs are played twice, once as the engine does it and once without queues, where each release of a
slot makes every job that waits for it due. Launches, their order, discards and jobs must be equal. What the
waiting jobs say they wait for may be older with queues: they were not decided since.
"""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.effort import much
from tests.simulation.paced import every, played
from tests.tally import reach
from tests.worlds.world import World, at
from tidegate.scheduler.model.job import ACTIVE, Job
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.memory import jobs
from tidegate.scheduler.store.protocol import Store

pytestmark = pytest.mark.slow  # whole histories

LAUNCHES = (EntryKind.LAUNCH, EntryKind.SLOTS_TAKEN)
DECISIONS = (*LAUNCHES, EntryKind.DISCARDED, EntryKind.SATISFIED, EntryKind.PASSED, EntryKind.RETRY)

LIMITED = """
urgent: {program: q, for_each: partition, priority: high, status: active,
  trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 2, group: g}}, {window: {from: "06:00", to: "22:00"}}]}
usual: {program: r, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},
  timeout: {after: 3h, then: run},
  constraints: [{concurrency: {max: 3, group: g}}, {load: {max_active_runs: 3}}]}
slow: {program: p, for_each: partition, priority: low, status: active, on_suspend: hold,
  trigger: {partitions: {dataset: other}},
  constraints: [{concurrency: {max: 1}}, {rate: {max: 3, per: 1h}}, {load: {gauge: cpu, max: 80}}]}
picky: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: other}},
  constraints: [{concurrency: {max: 2, group: g}}, {window: {from: "08:00", to: "16:00", otherwise: skip}}]}
rare: {program: t, status: active, batching: each, trigger: {partitions: {dataset: raw}}, timeout: 5h,
  constraints: [{since_last_run: {for: 30m}}, {load: {max_active_runs: 3}}]}
"""
"""Limits that schedules share, limits of their own, and constraints that make jobs miss their turn."""


def decisions(store: Store) -> dict[str, Any]:
    """What was decided, the launches in their order."""
    with store.reading() as reader:
        entries = reader.journal(kinds=DECISIONS)
        jobs = {job.id: (job.state, job.attempt, job.satisfied_at, job.launch) for job in reader.jobs()}
        ledger = reader.ledger()
    launches = [(entry.at, entry.job) for entry in entries if entry.kind in LAUNCHES]
    others = sorted((entry.at, entry.kind, str(entry.job), str(entry.reason)) for entry in entries)
    return {"launches": launches, "others": others, "jobs": jobs, "ledger": ledger}


def without_queues(monkeypatch: pytest.MonkeyPatch, play: Callable[[], Store]) -> dict[str, Any]:
    """What is decided where every release makes all blocked jobs due."""
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "queue_of", lambda job: None)
        return decisions(play())


def limited(seed: int) -> Store:
    """A store after a day of ends, arrivals and commands of chance."""
    dice, now = random.Random(seed), at("05:00")
    world = World(LIMITED, start="05:00")

    def clock() -> str:
        return f"{(now - at('00:00')).days}d {now:%H:%M:%S}"

    for number in range(120):
        now += timedelta(minutes=dice.choice((0, 0, 1, 7, 25)))
        _give(world, clock(), f"x{number}", dice)
        if dice.random() < 0.8:
            world.tick(clock())
    world.tick(clock())
    return world.store


def _give(world: World, clock: str, name: str, dice: random.Random) -> None:
    match dice.choice(("arrive", "end", "end", "end", "other", "gauge", "command")):
        case "arrive":
            days = dice.sample(range(1, 29), dice.randint(1, 12))
            dataset = dice.choice(("raw", "other"))
            world.arrive(clock, dataset, *(f"2026-02-{day:02d}" for day in days))
        case "end":
            active = _active(world)
            if active:
                job, status = (
                    dice.choice(active),
                    dice.choice(("succeeded", "succeeded", "failed", "cancelled")),
                )
                world.run(
                    clock, job.program.partition("/")[2], status, f"run:{job.run_key}", job.id, job.attempt
                )
        case "other":
            program = dice.choice("pqr")
            world.run(clock, program, "started", name)
            world.run(clock, program, "succeeded", name) if dice.random() < 0.7 else None
        case "gauge":
            world.report(clock, cpu=dice.choice((50, 90)))
        case _:
            _command(world, clock, dice)


def _jobs(world: World) -> tuple[Job, ...]:
    with world.store.reading() as reader:
        return reader.jobs()


def _active(world: World) -> list[Job]:
    return sorted((job for job in _jobs(world) if job.state in ACTIVE), key=lambda job: job.id)


def _command(world: World, clock: str, dice: random.Random) -> None:
    waiting = sorted(job.id for job in _jobs(world) if job.waiting)
    try:
        match dice.choice(("cancel", "suspend", "resume", "force")):
            case "cancel" if waiting:
                world.cancel(clock, dice.choice(waiting))
            case "suspend":
                world.suspend(clock, "slow")
            case "force":
                world.trigger(
                    clock, dice.choice(("urgent", "usual")), f"2026-02-0{dice.randint(1, 9)}", force=True
                )
            case _:
                world.resume(clock, "slow")
    except Refused:
        pass


@pytest.mark.parametrize("seed", range(much(4)))
def test_limits_that_are_shared(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = without_queues(monkeypatch, lambda: limited(seed))
    assert decisions(limited(seed)) == wanted
    reach("histories with and without queues")


@pytest.mark.parametrize("seed", range(much(1)))
def test_schedules_of_chance(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = without_queues(monkeypatch, lambda: played(seed, every(60)))
    assert decisions(played(seed, every(60))) == wanted
    reach("histories with and without queues")


def test_the_histories_meet_full_limits_and_jobs_that_miss_their_turn() -> None:
    waited: set[str] = set()
    launched = 0
    for seed in range(2):
        with limited(seed).reading() as reader:
            entries = reader.journal(kinds=(EntryKind.WAITING, EntryKind.LAUNCH, EntryKind.DISCARDED))
        waited |= {str(entry.reason) for entry in entries}
        launched += sum(entry.kind is EntryKind.LAUNCH for entry in entries)
    assert waited >= {"W-CONCURRENCY", "W-LOAD", "W-WINDOW", "W-RATE", "W-LAST-RUN", "D-WINDOW"}
    assert launched > 40
