"""Measured, status and dry run: what is known of a table, and what a run by hand would start."""

from datetime import timedelta

import pytest

from tests.scheduler.tick.maintenance.world import EXPIRE, REWRITE, TableWorld, shown
from tests.scheduler.world import at
from tidegate.scheduler.commands.measure import ask_for_health
from tidegate.scheduler.explain.operations.dry_run import WouldRun, would_run
from tidegate.scheduler.explain.operations.measured import Measured, known_tables, measured
from tidegate.scheduler.explain.operations.status import statuses_of
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.tick.maintenance.policies import load_policies

POLICIES = """
p:
  tables: ['w.a.*', a/out]
  operations:
    rewrite_data_files: {interval: 6h, timeout: 2h, when: {all: [{small_files: 9}]}}
    expire_snapshots: {}
"""

WRITES_OUT = """
s:
  program: p
  for_each: day
  status: active
  trigger: {partitions: {dataset: raw}}
  constraints: [{delay: 9h}]
"""


def known(world: TableWorld, clock: str, name: str) -> Measured:
    with world.store.reading() as reader:
        (table,) = (each for each in known_tables(reader) if each.name == name)
        return measured(load_policies(reader, at(clock)), table, at(clock))


def test_the_last_values_count_however_old_they_are() -> None:
    world = TableWorld(POLICIES, "w.a.x", blind=True)
    unknown = known(world, "00:01", "w.a.x")
    assert (unknown.health, unknown.age, unknown.usable, unknown.debt.score) == (None, None, False, 0)
    assert unknown.failure == ""
    world.sick("w.a.x", snapshots=100)
    world.measure("00:01", "w.a.x")
    assert known(world, "00:06", "w.a.x").usable
    old = known(world, "12:00", "w.a.x")
    assert (old.age, old.usable, old.debt.score) == (timedelta(hours=11, minutes=59), False, 50)
    world.measures["w.a.x"] = None
    world.measure("12:01", "w.a.x")
    broken = known(world, "12:01", "w.a.x")
    assert (broken.failure, broken.usable, broken.debt.score) == ("no such catalog", False, 0)


def test_known_tables_are_those_of_catalogs_and_of_datasets_that_exist() -> None:
    world = TableWorld(POLICIES, "w.a.x", "w.a.y")
    world.gone("00:01", "w.a.y")
    with world.store.reading() as reader:
        assert [table.name for table in known_tables(reader)] == ["a/out", "a/raw", "a/whole", "w.a.x"]


def test_status_has_conditions_while_nothing_is_due() -> None:
    world = TableWorld(POLICIES, "w.a.x")
    world.sick("w.a.x", small_files=9)
    world.poll("00:00")
    with world.store.reading() as reader:
        running, expire = statuses_of(reader, world.table("w.a.x"), at("00:00:30"))
    assert running.running is not None
    assert (running.conditions.met, expire.conditions.thresholds) == (True, ())
    world.end_all("00:02")
    world.measure("00:03")
    with world.store.reading() as reader:
        rewrite, _ = statuses_of(reader, world.table("w.a.x"), at("00:04"))
    assert (rewrite.due, shown(rewrite.next)) == (False, "06:00")
    assert [(each.value, each.met) for each in rewrite.conditions.thresholds] == [(9, True)]


def test_status_of_a_running_operation_whose_policy_has_gone() -> None:
    world = TableWorld(POLICIES, "w.a.x")
    world.sick("w.a.x", small_files=9)
    world.poll("00:00")
    world.deploy("00:01", "p: {tables: w.b.x, operations: {}}")
    with world.store.reading() as reader:
        assert statuses_of(reader, world.table("w.a.x"), at("00:02")) == ()


def dry(world: TableWorld, clock: str, table: str, **what: str) -> tuple[WouldRun, ...]:
    with world.store.reading() as reader:
        return would_run(reader, table, at(clock), **what)


def test_a_dry_run_has_options_timeouts_and_left_out_partitions() -> None:
    world = TableWorld(
        POLICIES,
        "w.a.x",
        maintenance="poll: 1h, auto_pools: {spark: 1}",
        schedules=WRITES_OUT,
    )
    world.arrive("00:01", "out", "2026-03-01", "2026-03-02")
    world.arrive("00:01", "raw", "2026-03-01")
    world.tick("00:01")
    rewrite, expire = dry(world, "00:01:30", "a/out")
    assert (rewrite.operation, rewrite.policy, rewrite.timeout) == (REWRITE, "a/p", timedelta(hours=2))
    assert rewrite.excluded == ("2026-03-01",)
    assert rewrite.options["target_file_size"] == 512_000_000
    assert (expire.operation, expire.excluded, expire.waits) == (EXPIRE, (), None)
    world.by_hand("00:01:40", "w.a.x")
    assert [each.waits for each in dry(world, "00:01:50", "a/out")] == ["W-CONCURRENCY", None]


def test_a_dry_run_is_refused_like_a_run() -> None:
    world = TableWorld("p: {tables: 'w.a.*', operations: {}}", "w.a.x")
    assert dry(world, "00:01", "w.a.x") == ()
    with pytest.raises(MaintenanceRefused, match="E-TABLE"):
        dry(world, "00:01", "w.a.nowhere")


def test_a_measurement_is_asked_for_once_and_only_where_a_policy_counts() -> None:
    world = TableWorld(POLICIES, "w.a.x", blind=True)
    for clock in ("00:01", "00:02"):
        with world.store.transaction() as transaction:
            ask_for_health(transaction, world.table("w.a.x"), at(clock))
    assert shown(world.table("w.a.x").wanted_at) == "00:01"
    world.found("00:03", "w.b.x")
    with world.store.transaction() as transaction, pytest.raises(MaintenanceRefused, match="E-POLICY"):
        ask_for_health(transaction, world.table("w.b.x"), at("00:03"))
