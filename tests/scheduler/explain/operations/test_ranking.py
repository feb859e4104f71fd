"""Ranking: the policies that match a table, for each operation, and why the first one counts."""

from tests.worlds.tables import TableWorld
from tests.worlds.world import at
from tidegate.domain.model import Operation
from tidegate.scheduler.explain.operations.ranking import RankedPolicy, ranked_policies

POLICIES = """
by_name: {tables: 'w.a.*', operations: {rewrite_data_files: {}}}
c_glob: {tables: ['w.*.x', 'w.a.*'], operations: {rewrite_data_files: {}}}
high: {tables: x, priority: 5, operations: {rewrite_data_files: {}, expire_snapshots: {enabled: false}}}
off: {tables: w.a.x, enabled: false, operations: {rewrite_data_files: {}}}
"""


def ranked(policies: str, operation: Operation) -> list[RankedPolicy]:
    world = TableWorld(policies, "w.a.x")
    with world.store.reading() as reader:
        found = ranked_policies(reader, world.table("w.a.x"), at("00:01"))
    return next(list(each.policies) for each in found if each.operation is operation)


def test_priority_then_specificity_then_name() -> None:
    found = ranked(POLICIES, Operation.REWRITE_DATA_FILES)
    assert [(each.policy, each.status, each.pattern) for each in found] == [
        ("a/high", "counts", "x"),
        ("a/by_name", "outranked", "w.a.*"),
        ("a/c_glob", "outranked", "w.a.*"),
        ("a/off", "policy disabled", "w.a.x"),
    ]
    assert found[0].because == "priority 5, before 0 of a/by_name"
    assert found[0].specificity == (0, 0, 2)
    without = ranked(POLICIES.replace("priority: 5, ", ""), Operation.REWRITE_DATA_FILES)
    assert without[0].because == "its name comes before that of a/c_glob"
    specific = ranked(POLICIES.replace("'w.a.*'], op", "'w.a.x'], op"), Operation.REWRITE_DATA_FILES)
    assert specific[1].pattern == "w.a.x"


def test_why_a_specific_pattern_counts() -> None:
    policies = """
a: {tables: 'w.a.*', operations: {expire_snapshots: {}}}
b: {tables: w.a.x, operations: {expire_snapshots: {}}}
"""
    first, second = ranked(policies, Operation.EXPIRE_SNAPSHOTS)
    assert (first.policy, first.because) == ("a/b", "a more specific pattern than that of a/a")
    assert (second.policy, second.because) == ("a/a", "")


def test_what_no_policy_configures() -> None:
    found = ranked(POLICIES, Operation.EXPIRE_SNAPSHOTS)
    assert [(each.policy, each.status) for each in found] == [
        ("a/high", "operation disabled"),
        ("a/off", "policy disabled"),
        ("a/by_name", "not configured"),
        ("a/c_glob", "not configured"),
    ]
    (only,) = ranked("p: {tables: w.a.x, operations: {expire_snapshots: {}}}", Operation.EXPIRE_SNAPSHOTS)
    assert only.because == "no other policy configures it"
