"""What is shown of a table between polls: the status of its operations, and its debt."""

import pytest

from tests.scheduler.tick.maintenance.world import EXPIRE, HOURLY, TableWorld, shown
from tests.scheduler.world import at
from tidegate.scheduler.explain.maintenance import operation_status, table_debt
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.refused import MaintenanceRefused

TWO = """
one: {tables: w.a.x, health: {thresholds: {snapshots: [10, 20]}}, operations: {expire_snapshots: {}}}
two: {tables: 'w.*.*', operations: {rewrite_data_files: {when: {any: [{snapshots: 9}], at_latest: 2d}}}}
"""
DAY = 86_400


def debt_of(world, table, clock):
    with world.store.reading() as reader:
        found = table_debt(reader, table, at(clock))
    return found.score, found.parts, [(issue.severity, issue.measure) for issue in found.issues]


def test_the_debt_has_all_its_parts_by_the_rules_of_the_table():
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
    assert debt_of(world, "w.b.y", "00:07") == (0, {}, [])


def test_the_status_says_whether_it_would_run_now_and_why_not():
    world = TableWorld(TWO, "w.a.x")
    world.sick("w.a.x", snapshots=8)
    world.poll("00:00")
    world.end_all("00:00:30")
    world.measure("00:00:40")
    with world.store.reading() as reader:
        rewrite, expire = operation_status(reader, "w.a.x", at("00:00:50"))
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


def test_a_table_that_is_not_known_has_no_status():
    world = TableWorld(HOURLY)
    with world.store.reading() as reader, pytest.raises(MaintenanceRefused) as refused:
        operation_status(reader, "w.a.z", at("00:00"))
    assert refused.value.code == "E-TABLE"


def test_a_table_without_a_policy_has_no_operations_but_a_debt():
    world = TableWorld(HOURLY, "w.b.y")
    world.sick("w.b.y", snapshots=100)
    world.measure("00:00")
    with world.store.reading() as reader:
        assert operation_status(reader, "w.b.y", at("00:00")) == ()
    assert debt_of(world, "w.b.y", "00:00")[0] == 50


def test_the_job_of_a_schedule_is_not_an_operation():
    with pytest.raises(ValueError, match="is not an operation on a table"):
        _ = Job(id="j", schedule="a/s", opened_at=at("00:00")).work
