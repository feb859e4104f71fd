"""What is shown of the operations on a table between polls."""

import pytest

from tests.worlds.tables import (
    EXPIRE,
    HOURLY,
    MANIFESTS,
    ORPHANS,
    REWRITE,
    TableWorld,
    shown,
)
from tests.worlds.world import at
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.tick.maintenance.policies import load_policies

TWO = """
one: {tables: w.a.x, health: {thresholds: {snapshots: [10, 20]}}, operations: {expire_snapshots: {}}}
two: {tables: 'w.*.*', operations: {rewrite_data_files: {when: {any: [{snapshots: 9}], at_latest: 2d}}}}
"""
FOUR = """
one:
  tables: 'w.a.*'
  operations:
    remove_orphan_files: {}
    expire_snapshots: {}
    rewrite_manifests: {interval: 1h}
    rewrite_data_files: {when: {all: [{snapshots: 9}]}}
"""


def statuses(world: TableWorld, clock: str, table: str) -> tuple[OperationStatus, ...]:
    with world.store.reading() as reader:
        return operation_status(reader, world.table(table), load_policies(reader, at(clock)), at(clock))


def test_the_status_says_whether_it_would_run_now_and_why_not():
    world = TableWorld(TWO, "w.a.x")
    world.sick("w.a.x", snapshots=8)
    world.poll("00:00")
    world.end_all("00:00:30")
    world.measure("00:00:40")
    rewrite, expire = statuses(world, "00:00:50", "w.a.x")
    assert (rewrite.policy, rewrite.due, rewrite.would_run, rewrite.reason) == (
        "a/two",
        True,
        False,
        "M-CONDITION",
    )
    assert (shown(rewrite.due_since), shown(rewrite.next)) == ("00:00", "00:01")
    (threshold,) = rewrite.conditions.thresholds
    assert (threshold.threshold.measure, threshold.value, threshold.met) == ("snapshots", 8, False)
    assert (shown(rewrite.conditions.forced_at), rewrite.forced) == ("2d 00:00", False)
    assert (expire.due, expire.would_run, expire.due_since, shown(expire.next)) == (
        False,
        False,
        None,
        "1d 00:00",
    )
    world.sick("w.a.x", snapshots=9)
    world.measure("00:00:55", "w.a.x")
    assert world.status("00:00:56", "w.a.x").would_run


def test_of_several_that_are_ready_only_the_first_would_run():
    """What the status says of them is what the poll does."""
    world = TableWorld(FOUR, "w.a.x")
    world.sick("w.a.x", snapshots=8)
    world.measure("00:00")
    found = statuses(world, "00:00", "w.a.x")
    assert [each.operation for each in found] == [REWRITE, MANIFESTS, EXPIRE, ORPHANS]
    assert [(each.would_run, each.behind, each.reason) for each in found] == [
        (False, None, "M-CONDITION"),
        (True, None, None),
        (False, MANIFESTS, None),
        (False, MANIFESTS, None),
    ]
    assert world.poll("00:00") == ["w.a.x manifests"]
    assert world.reason("00:00:30", "w.a.x", EXPIRE)[0] == "M-TABLE"
    world.end_all("00:00:40")
    world.measure("00:00:50")
    found = statuses(world, "00:00:55", "w.a.x")
    assert [each.behind for each in found] == [None, None, None, EXPIRE]
    assert [each.would_run for each in found] == [False, False, True, False]
    assert world.poll("00:01") == ["w.a.x expire"]


def test_a_table_without_a_policy_has_no_operations():
    world = TableWorld(HOURLY, "w.b.y")
    assert statuses(world, "00:00", "w.b.y") == ()


def test_the_job_of_a_schedule_is_not_an_operation():
    with pytest.raises(ValueError, match="is not an operation on a table"):
        _ = Job(id="j", schedule="a/s", opened_at=at("00:00")).work
