"""Polls with more new reasons for waiting than one of them writes: none is lost, and starts keep order."""

import pytest

from tests.worlds.tables import HOURLY, TableWorld
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.scheduler.intake.tables import forget_health
from tidegate.scheduler.tick.maintenance import poll as poll_module


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_module, "REASONS_PER_POLL", 2)


def test_a_poll_decides_about_all_operations_and_leaves_reasons_to_the_next_one(store):
    tables = [f"w.a.t{number}" for number in range(6)]
    world = TableWorld(HOURLY, *tables, store=store, maintenance="budget: {operations_per_poll: 1}")
    world.sick("w.a.t5", small_file_percent=100)
    assert world.poll("00:00") == ["w.a.t5 rewrite"]
    assert set(world.waiting()) == {"w.a.t0 rewrite", "w.a.t1 rewrite"}
    assert world.poll("00:01") == ["w.a.t0 rewrite"]
    assert set(world.waiting()) == {"w.a.t1 rewrite", "w.a.t2 rewrite", "w.a.t3 rewrite"}
    assert world.poll("00:02") == ["w.a.t1 rewrite"]
    assert world.waiting() == {f"w.a.t{number} rewrite": "M-BUDGET" for number in (2, 3, 4)}


def test_what_was_looked_at_for_another_operation_of_its_table_comes_again(store, monkeypatch):
    monkeypatch.setattr(poll_module, "REASONS_PER_POLL", 100)
    rewrite = "rewrite_data_files: {window: {from: '00:00', to: '00:02'}}"
    expire = "expire_snapshots: {when: {all: [{snapshots: 1}]}}"
    tables = [f"w.a.t{number}" for number in range(3)]
    world = TableWorld(
        f"nightly: {{tables: 'w.a.*', operations: {{{rewrite}, {expire}}}}}",
        *tables,
        store=store,
        maintenance="budget: {operations_per_poll: 1}, auto_pools: {spark: 1}",
    )
    for minute in range(2):
        world.poll(f"00:0{minute}")
    assert world.starts() == ["00:00 w.a.t0 rewrite"]
    # The rewrites of the others wait for their turn, and the expiries behind them: then the window closes.
    world.blind = True
    monkeypatch.setattr(poll_module, "REASONS_PER_POLL", 2)
    with world.store.transaction() as transaction:
        forget_health(transaction, tables, at("00:01:30"))
    for minute in range(2, 8):
        world.poll(f"00:0{minute}")
    reasons = world.waiting()
    assert {name: reasons[name] for name in reasons if name.endswith("expire")} == {
        "w.a.t0 expire": "M-TABLE",
        "w.a.t1 expire": "M-HEALTH",
        "w.a.t2 expire": "M-HEALTH",
    }
