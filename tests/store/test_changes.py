"""The count of changes: another number after each transaction that has changed a row, and only then."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.store.commits.sequences import begin
from tests.worlds.samples import NOON, event, job, schedule
from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.launch.active_host import HOST
from tidegate.scheduler.store.commits.transaction import writing
from tidegate.scheduler.store.open import commits_of
from tidegate.scheduler.store.sql.commit_tables import commit_tokens
from tidegate.scheduler.store.sql.totals.tables import PULSES
from tidegate.scheduler.store.upkeep import UpkeepStore, UpkeepTransaction
from tidegate.scheduler.tick.tick import CLOCK, TICKED

pytestmark = pytest.mark.store


def written(store: UpkeepStore, write: Callable[[UpkeepTransaction], Any]) -> bool:
    """Write something, and return whether the count is another one."""
    before = store.changes()
    with store.transaction() as transaction:
        write(transaction)
    after = store.changes()
    assert after >= before
    return after != before


def test_each_transaction_that_changes_a_row_counts(sql_store: UpkeepStore):
    assert written(sql_store, lambda tx: tx.put_schedules([schedule("a/s")]))
    assert written(sql_store, lambda tx: tx.add_events([event("e")]))
    assert written(sql_store, lambda tx: tx.put_jobs([job("j")]))
    assert written(sql_store, lambda tx: tx.mark_routed(["e"]))
    assert written(sql_store, lambda tx: tx.set_cursor("held", {"a": 1}))
    assert written(sql_store, lambda tx: tx.delete_schedules(["a/s"]))


def test_what_changes_nothing_does_not_count(sql_store: UpkeepStore):
    written(sql_store, lambda tx: tx.add_events([event("e")]))
    assert not written(sql_store, lambda tx: tx.jobs())
    assert not written(sql_store, lambda tx: tx.add_events([event("e")]))
    assert not written(sql_store, lambda tx: tx.delete_schedules(["a/none"]))


def test_the_pulse_of_the_engine_does_not_count(sql_store: UpkeepStore):
    assert set(PULSES) == {CLOCK, TICKED, HOST}
    for name in (CLOCK, TICKED, f"{HOST}:project"):
        assert not written(sql_store, lambda tx, name=name: tx.set_cursor(name, NOON.isoformat()))


def test_what_was_rolled_back_does_not_count(sql_store: UpkeepStore):
    before = sql_store.changes()
    with pytest.raises(ZeroDivisionError), sql_store.transaction() as transaction:
        transaction.put_jobs([job("j")])
        raise ZeroDivisionError
    assert sql_store.changes() == before


def test_the_count_goes_on_over_a_rename(sql_store: UpkeepStore):
    for n in range(3):
        written(sql_store, lambda tx, n=n: tx.put_jobs([job(f"j{n}")]))
    assert written(sql_store, lambda tx: tx.rename(Renames(apps={"a": "b"})))


def test_changes_of_commit_sequences_count_without_waiting_for_ticks(sql_store: Any):
    before = sql_store.changes()
    with writing(sql_store.engine) as connection:
        assert connection.execute(commit_tokens.select()).all()
    assert sql_store.changes() == before
    begin(commits_of(sql_store))
    assert sql_store.changes() == before + 1
