"""One history of operations on tables, in which the process dies once at each point of each step.

In `make test` at each commit, after each, and at each sixth call; in a soak at each point indeed.

A point is a call in a transaction (on SQLite a statement), the moment before a commit, and the one after it.
The process comes back and does the step again. Whatever had not been committed leaves no trace: the store is
the same as after the undisturbed step. What was committed is not done twice.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests import effort
from tests.doubles.dump import dump
from tests.doubles.faulty_store import Crash, FaultyStore
from tests.simulation.sweep import STORES, Rewinding, chosen
from tests.tally import PROMISED, reach
from tests.worlds.tables import EXPIRE, REWRITE, TableWorld
from tidegate.domain.model import Operation
from tidegate.scheduler.model.refused import MaintenanceRefused

POLICIES = """
nightly: {tables: [a/out, 'w.*.*'], operations: {rewrite_data_files: {interval: 5m, timeout: 7m, \
when: {any: [{snapshots: 3}]}}, expire_snapshots: {interval: 5m, timeout: 7m}}}
"""
SETTINGS = "budget: {operations_per_poll: 2, bytes_per_hour: 500}, auto_pools: {spark: 2}"
FOLLOWS = "s: {program: p, status: active, trigger: {partitions: {dataset: raw}}, for_each: partition}"
NARROW = POLICIES.replace("'w.*.*'", "w.a.x").replace("interval: 5m", "interval: 9m")

Step = Callable[[TableWorld], object]
"""What is done. It returns False where it changes nothing, as where it was done before."""


def ends(clock: str, number: int, ending: str = "succeeded", *, bytes: int = 0) -> Step:
    """One of the runs, counted in the order of their starts, reports its end."""
    return lambda world: world.end(clock, world.runs()[number].job, ending, bytes=bytes)


def by_hand(clock: str, table: str, operation: Operation | None = None) -> Step:
    """A person asks; it is refused where that was done before."""

    def step(world: TableWorld) -> bool:
        try:
            return bool(world.by_hand(clock, table, operation))
        except MaintenanceRefused as refused:
            assert refused.code == "E-ACTIVE"
            return False

    return step


STEPS: list[tuple[str, Step]] = [
    ("tables are found", lambda w: w.found("00:00", "w.a.x", "w.b.y", "w.c.z")),
    ("partitions arrive", lambda w: w.arrive("00:00", "out", "2026-03-08", "2026-03-09")),
    ("a pipeline begins", lambda w: w.arrive("00:00", "raw", "2026-03-09")),
    ("they are measured", lambda w: w.measure("00:00")),
    ("a poll starts two", lambda w: w.tick("00:00")),
    ("they are launched", lambda w: w.launch("00:00:10")),
    ("a run ends", ends("00:00:20", 0, bytes=100)),
    ("a person asks for all", by_hand("00:00:30", "w.c.z")),
    ("a person asks, and a slot is missing", by_hand("00:00:40", "w.b.y", EXPIRE)),
    ("what waits is measured", lambda w: w.measure("00:00:50")),
    ("a poll of blocked ones", lambda w: w.tick("00:01")),
    ("a conflict", ends("00:01:10", 1, "conflict")),
    ("the slot is taken by hand", lambda w: w.tick("00:01:11")),
    ("they are launched", lambda w: w.launch("00:01:12")),
    ("a policy changes", lambda w: w.deploy("00:01:30", NARROW, schedules=FOLLOWS, maintenance=SETTINGS)),
    ("a failure", ends("00:01:40", 2, "failed")),
    ("a table goes", lambda w: w.gone("00:01:50", "w.c.z")),
    ("polls again", lambda w: w.tick("00:03")),
    ("a run on a table that is gone ends", ends("00:03:10", 3)),
    ("the run by hand that has waited ends", ends("00:03:20", 4)),
    ("polls start two", lambda w: w.tick("00:05")),
    ("timeouts and polls", lambda w: w.tick("00:13")),
    ("they are launched", lambda w: w.launch("00:13:10")),
    ("a table comes back", lambda w: w.found("00:13:20", "w.c.z")),
    (
        "the policy comes back",
        lambda w: w.deploy("00:13:30", POLICIES, schedules=FOLLOWS, maintenance=SETTINGS),
    ),
    ("more bytes than there may be", ends("00:13:40", 7, bytes=450)),
    ("polls without a start", lambda w: w.tick("00:18")),
    ("an absence", lambda w: w.tick("01:00:30")),
    ("the next hour", lambda w: w.tick("01:01")),
]


def essence(tables: Mapping[str, Any]) -> list[Any]:
    """What exists, without how often it was offered or asked for."""
    jobs = [[job["id"], job["state"], job["reason"]] for job in tables["jobs"]]
    return [
        jobs,
        *(tables[name] for name in ("maintained_tables", "maintenance_records", "operation_runs", "slots")),
    ]


def world_on(store: FaultyStore) -> TableWorld:
    return TableWorld(POLICIES, store=store, schedules=FOLLOWS, maintenance=SETTINGS, blind=True)


def on(world: TableWorld, store: FaultyStore) -> TableWorld:
    copied = copy.copy(world)
    copied.store = store
    return copied


@pytest.mark.slow
@pytest.mark.parametrize("rewinding", STORES, indirect=True)
def test_a_crash_at_any_point_changes_nothing(rewinding: Rewinding):
    world = world_on(FaultyStore(rewinding.store))
    world.sick("w.a.x", snapshots=500)
    swept = 0
    for number, (name, step) in enumerate(STEPS):
        before, undisturbed = rewinding.snapshot(), copy.copy(world)
        world.store.places = []
        assert step(world) is not False, name
        after, places = dump(world.store), world.store.places
        world.store.release()
        for point, place in chosen(places, every=effort.every(8), first=number):
            rewinding.back_to(before)
            faulty = FaultyStore(rewinding.store)
            faulty.fail_at = point
            revived = on(undisturbed, faulty)
            try:
                step(revived)
            except Crash:
                step(on(undisturbed, faulty))
            assert faulty.crashes == 1, f"{name}: it never came to point {point}"
            found = dump(faulty)
            exact = place != "committed" and places.count("commit") == 1
            same = found == after if exact else essence(found) == essence(after)
            assert same, f"{name}: the crash at point {point} ({place}) left a trace"
            faulty.release()
            swept += 1
        rewinding.back_to(before)
        world = on(undisturbed, FaultyStore(rewinding.store))
        step(world)
    reach("points of the crash sweep of maintenance", swept)
    assert swept >= PROMISED["points of the crash sweep of maintenance"]
    assert {str(run.ending) for run in world.runs()} == {"succeeded", "conflict", "failed", "None"}
    assert [run for run in world.runs() if run.by_hand]
    assert [run for run in world.runs() if run.excluded == ("2026-03-09",)]
    assert [job for job in world.jobs() if job.work.operation is REWRITE and job.reason == "D-DELETED"]
