"""Measured, status and dry run: what is known of a table, and what a run by hand would start."""

from datetime import timedelta

import pytest

from tests.worlds.tables import EXPIRE, REWRITE, WRITES_OUT, TableWorld, shown
from tests.worlds.world import at
from tidegate.domain.maintenance.measures import DAY
from tidegate.scheduler.commands.maintain import ask_for_health
from tidegate.scheduler.explain.measured import Measured, known_tables, measured
from tidegate.scheduler.explain.operations.dry_run import WouldRun, would_run
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.tick.maintenance.look import order_debt
from tidegate.scheduler.tick.maintenance.policies import load_policies

POLICIES = """
p:
  tables: ['w.a.*', a/out]
  operations:
    rewrite_data_files: {interval: 6h, timeout: 2h, when: {all: [{small_files: 9}]}}
    expire_snapshots: {}
"""


TWO = """
one: {tables: w.a.x, health: {thresholds: {snapshots: [10, 20]}}, operations: {expire_snapshots: {}}}
two: {tables: 'w.*.*', operations: {rewrite_data_files: {when: {any: [{snapshots: 9}], at_latest: 2d}}}}
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


def debt_of(world: TableWorld, table: str, clock: str):
    found = known(world, clock, table).debt
    return found.score, found.parts, [(issue.severity, issue.measure) for issue in found.issues]


def test_the_debt_has_all_its_parts_by_the_rules_of_the_table() -> None:
    world = TableWorld(TWO, "w.a.x", "w.b.y")
    for table in ("w.a.x", "w.b.y"):
        world.sick(table, snapshots=20, newest_snapshot_age=2 * DAY)
    for ending in ("failed", "succeeded", "failed"):
        world.by_hand("00:00", "w.a.x", EXPIRE)
        world.end_all("00:00", ending)
    assert debt_of(world, "w.a.x", "00:00") == (
        pytest.approx(200 / 3 + 20),
        {"failure_rate": pytest.approx(200 / 3), "failures_in_a_row": 20},
        [],
    )
    world.measure("00:01")
    assert debt_of(world, "w.a.x", "00:01")[1:] == (
        {"issues": 100, "stale": 1, "failure_rate": pytest.approx(200 / 3), "failures_in_a_row": 20},
        [("critical", "snapshots")],
    )
    assert debt_of(world, "w.b.y", "00:01") == (1, {"stale": 1}, [])


def test_what_is_old_counts_for_people_and_not_in_the_order_of_starts() -> None:
    world = TableWorld(TWO, "w.b.y")
    world.sick("w.b.y", newest_snapshot_age=2 * DAY)
    world.measure("00:01")
    assert debt_of(world, "w.b.y", "00:07") == (1, {"stale": 1}, [])
    with world.store.reading() as reader:
        policies = load_policies(reader, at("00:07"))
    ordered = [order_debt(policies, world.table("w.b.y"), at(clock)) for clock in ("00:06", "00:07")]
    assert ordered == [1, 0]


def test_a_table_without_a_policy_has_a_debt_by_the_defaults() -> None:
    world = TableWorld(POLICIES, "w.b.y")
    world.sick("w.b.y", snapshots=100)
    world.measure("00:00")
    assert debt_of(world, "w.b.y", "00:00") == (50, {"issues": 50}, [("warning", "snapshots")])


def test_known_tables_are_those_of_catalogs_and_of_datasets_that_exist() -> None:
    world = TableWorld(POLICIES, "w.a.x", "w.a.y")
    world.gone("00:01", "w.a.y")
    with world.store.reading() as reader:
        assert [table.name for table in known_tables(reader)] == ["a/out", "a/raw", "a/whole", "w.a.x"]


def statuses(world: TableWorld, clock: str, table: str) -> tuple[OperationStatus, ...]:
    with world.store.reading() as reader:
        return operation_status(reader, world.table(table), load_policies(reader, at(clock)), at(clock))


def test_status_has_conditions_while_nothing_is_due() -> None:
    world = TableWorld(POLICIES, "w.a.x")
    world.sick("w.a.x", small_files=9)
    world.poll("00:00")
    running, expire = statuses(world, "00:00:30", "w.a.x")
    assert running.running is not None
    assert (running.conditions.met, expire.conditions.thresholds) == (True, ())
    world.end_all("00:02")
    world.measure("00:03")
    rewrite, _ = statuses(world, "00:04", "w.a.x")
    assert (rewrite.due, shown(rewrite.next)) == (False, "06:00")
    assert [(each.value, each.met) for each in rewrite.conditions.thresholds] == [(9, True)]


def test_status_of_a_running_operation_whose_policy_has_gone() -> None:
    world = TableWorld(POLICIES, "w.a.x")
    world.sick("w.a.x", small_files=9)
    world.poll("00:00")
    world.deploy("00:01", "p: {tables: w.b.x, operations: {}}")
    assert statuses(world, "00:02", "w.a.x") == ()


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
