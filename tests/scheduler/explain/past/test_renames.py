"""`why TABLE --at` after renames: what happened under former names is found under the present ones."""

import pytest

from tests.worlds.tables import REWRITE, SHORT, TableWorld, app_of
from tests.worlds.world import at
from tidegate.scheduler.commands.by_hand.held_apps import hold_app
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.run import group_resource

HEAD = """
app: {app}
{app_from}
datasets:
{datasets}
programs:
  q: {{run: programs.q}}
"""
SETTINGS = "auto_pools: {spark: 2}"


def head(*datasets: str, app: str = "a", app_from: str = "") -> str:
    listed = "\n".join(f"  {each}" for each in datasets)
    return HEAD.format(app=app, datasets=listed, app_from=app_from and f"renamed_from: {app_from}")


def policy(*tables: str) -> str:
    return f"p: {{tables: [{', '.join(tables)}], operations: {{rewrite_data_files: {{interval: 1h}}}}}}"


def deploy(world: TableWorld, clock: str, tables: str, *datasets: str, **of_app: str) -> None:
    app = app_of(policy(*tables.split()), maintenance=SETTINGS, head=head(*datasets, **of_app))
    world.deploy_apps(clock, app)


def started(*datasets: str) -> TableWorld:
    """A world in which the tables of these datasets are rewritten since midnight."""
    tables = [f"a/{each.partition(':')[0]}" for each in datasets]
    world = TableWorld(policy(*tables), maintenance=SETTINGS, head=head(*datasets))
    assert world.poll("00:00") == [f"{table} rewrite" for table in sorted(tables)]
    return world


def of_past(world: TableWorld, clock: str, table: str) -> list[tuple[str, str, str, str]]:
    """The operations on a table as they were, each with its schedule, its status and the key of its job."""
    with world.store.reading() as reader:
        past = store_at(reader, at(clock))
    with past.reading() as reader:
        found = explain_operations(reader, table, at(clock))
        return [
            (each.schedule, SHORT[each.work.operation], each.status, each.job.key)
            for each in found
            if each.job is not None and each.work is not None
        ]


def slots_of_past(world: TableWorld, clock: str, *tables: str) -> dict[str, int]:
    resources = [group_resource("spark"), *(f"table:{table}" for table in tables)]
    with world.store.reading() as reader:
        past = store_at(reader, at(clock))
    with past.reading() as reader:
        return {name.partition(":")[2]: taken for name, taken in reader.slots(resources).items() if taken}


def test_the_operations_on_a_renamed_dataset_are_found_before_and_after_its_renames() -> None:
    world = started("d: {}")
    deploy(world, "00:10", "a/e", "e: {renamed_from: d}")
    deploy(world, "00:20", "a/f", "f: {renamed_from: [e, d]}")
    (running,) = world.running()
    assert (running.table, running.operation) == ("a/f", REWRITE)
    for clock in ("00:05", "00:15", "00:25"):
        assert of_past(world, clock, "a/f") == [
            ("a/policy:p", "rewrite", "enabled", "a/f rewrite_data_files")
        ]
        assert of_past(world, clock, "a/d") == []
        assert slots_of_past(world, clock, "a/d", "a/e", "a/f") == {"spark": 1, "a/f": 1}
    world.end_all("00:30")
    assert of_past(world, "00:35", "a/f") == []
    assert slots_of_past(world, "00:35", "a/d", "a/f") == {}


def test_a_dataset_that_has_taken_a_former_name_has_operations_of_its_own() -> None:
    world = started("d: {}")
    deploy(world, "00:10", "a/e", "e: {renamed_from: d}")
    world.end_all("00:20")
    deploy(world, "00:30", "a/d a/e", "e: {}", "d: {path: landing/d}")
    world.poll("00:30")
    assert world.starts() == ["00:00 a/e rewrite", "00:30 a/d rewrite"]
    assert [key for *_, key in of_past(world, "00:05", "a/e")] == ["a/e rewrite_data_files"]
    assert of_past(world, "00:05", "a/d") == []
    assert [key for *_, key in of_past(world, "00:32", "a/d")] == ["a/d rewrite_data_files"]
    assert of_past(world, "00:32", "a/e") == []


def test_the_operations_of_a_renamed_app_are_those_of_its_policies() -> None:
    world = started("d: {}")
    deploy(world, "00:10", "b/d", "d: {}", app="b", app_from="a")
    for clock in ("00:05", "00:15"):
        assert of_past(world, clock, "b/d") == [
            ("b/policy:p", "rewrite", "enabled", "b/d rewrite_data_files")
        ]
        assert slots_of_past(world, clock, "a/d", "b/d") == {"spark": 1, "b/d": 1}


def test_a_hold_on_an_app_is_found_under_its_later_name() -> None:
    world = started("d: {}")
    with world.store.transaction() as transaction:
        hold_app(transaction, "a", at("00:05"), By(actor="cli:ada"))
    deploy(world, "00:10", "b/d", "d: {}", app="b", app_from="a")
    for clock, held in (("00:02", []), ("00:07", ["b"]), ("00:15", ["b"])):
        with world.store.reading() as reader:
            past = store_at(reader, at(clock))
        with past.reading() as reader:
            assert [each.app for each in reader.records(OVERRIDES) if each.kind == "held"] == held


@pytest.mark.parametrize("again", ["a", "c"])
def test_an_app_that_was_removed_before_another_one_got_its_name_is_gone_then(again: str) -> None:
    world = started("d: {}")
    world.end_all("00:05")
    world.deploy_apps("00:10")
    deploy(world, "00:20", f"{again}/d", "d: {}", app=again)
    deploy(world, "00:30", "b/d", "d: {}", app="b", app_from=again)
    with world.store.reading() as reader:
        past = store_at(reader, at("00:15"))
    with past.reading() as reader:
        assert reader.records(APPS) == ()
