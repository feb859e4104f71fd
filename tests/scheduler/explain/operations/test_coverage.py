"""Coverage: which exact patterns match no known table; the rest is shown by the tests of the command line."""

import msgspec
import pytest

from tests.worlds.tables import HEAD, TableWorld, app_of
from tidegate.compiler.plan.diff import Diff
from tidegate.domain.maintenance.pattern import best_match
from tidegate.domain.model import App, Policy
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.explain.operations.coverage import Coverage, Known, coverage, load_known
from tidegate.scheduler.model.maintenance import TableState

NAMES = ("w.a.orders", "w.a.b.c", "lake.x.y")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("w.a.orders", True),
        ("a.orders", True),
        ("orders", True),
        ("w.a.order", False),
        ("w.orders", False),
        ("w.a.b.c", True),
        ("a.b.c", False),
        ("b.c", False),
        ("c", False),
        ("x.y", True),
        ("lake.x", False),
        ("shop/orders", False),
        ("w.a.nothing_*", True),
    ],
)
def test_an_exact_pattern_is_compared_as_a_pattern(pattern: str, matches: bool) -> None:
    tables = tuple(TableState(name=name, catalog_name=name) for name in NAMES)
    app = App(name="a", policies={"p": Policy(name="p", tables=(pattern,))})
    changes = Diff(apps=(), refusals=(), update_schedules=True, after={"a": app})
    unmatched = coverage(Known(apps={}, tables=tables, waiting=()), changes).unmatched
    assert [each.pattern for each in unmatched] == ([] if matches else [pattern])
    if "*" not in pattern:
        assert matches == any(best_match((pattern,), name) is not None for name in NAMES)


POLICIES = """
some: {tables: ['w.a.*', a/out], operations: {rewrite_data_files: {}, expire_snapshots: {}}}
high: {tables: w.a.x, priority: 5, operations: {rewrite_data_files: {}}}
"""


def changed(world: TableWorld, *apps: App) -> Coverage:
    with world.store.reading() as reader:
        return coverage(load_known(reader), difference(reader, {app.name: app for app in apps}))


def test_policies_whose_tables_change_and_operations_that_move() -> None:
    world = TableWorld(POLICIES, "w.a.x", "w.a.y", maintenance="poll: 1h, auto_pools: {spark: 1}")
    world.tick("00:30")
    world.poll("01:00")
    policies = POLICIES.replace("tables: w.a.x, priority: 5", "tables: w.a.y, priority: 5").replace(
        ", expire_snapshots: {}", ""
    )
    found = changed(world, app_of(policies, maintenance="poll: 1h, auto_pools: {spark: 1}"))
    assert [(each.policy, each.tables, each.new, each.lost, each.discarded) for each in found.policies] == [
        ("a/high", 1, ("w.a.y",), ("w.a.x",), 1),
        ("a/some", 3, (), (), 4),
    ]
    assert [(each.operation, each.before, each.after, each.tables) for each in found.moved] == [
        ("rewrite_data_files", "a/high", "a/some", ("w.a.x",)),
        ("rewrite_data_files", "a/some", "a/high", ("w.a.y",)),
        ("expire_snapshots", "a/some", None, ("a/out", "w.a.x", "w.a.y")),
    ]


def test_nothing_changes_without_a_change_and_a_new_dataset_is_covered() -> None:
    world = TableWorld(POLICIES, "w.a.x")
    assert changed(world, app_of(POLICIES)) == Coverage()
    more = HEAD.replace("  out: {", "  more: {}\n  out: {")
    assert changed(world, app_of(POLICIES, head=more)) == Coverage()
    wide = POLICIES.replace("a/out]", "tidegate.a.*]")
    world.deploy("00:01", wide)
    (some,) = changed(world, app_of(wide, head=more)).policies
    assert (some.policy, some.new) == ("a/some", ("a/more",))


def test_an_app_that_goes_and_one_that_is_renamed() -> None:
    world = TableWorld(POLICIES, "w.a.x", maintenance="poll: 1h")
    world.tick("00:30")
    renamed = app_of(POLICIES.replace("a/out", "b/out"), maintenance="poll: 1h")
    renamed = msgspec.structs.replace(renamed, name="b", renamed_from=("a",))
    found = changed(world, renamed)
    assert [(each.policy, each.new, each.lost) for each in found.policies] == [("b/some", (), ())]
    assert found.moved == ()
    gone = changed(world)
    assert [(each.policy, each.tables, each.lost) for each in gone.policies] == [
        ("a/high", 0, ("w.a.x",)),
        ("a/some", 0, ("a/out", "w.a.x")),
    ]
