"""The totals of a store are what counting its rows gives, at each step of a job and in an older store.

Its count of changes is another number after each transaction that has changed a row, and only then.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.doubles.reference.store import ReferenceStore
from tests.store.commits.sequences import begin
from tests.worlds.samples import NOON, delivery, event, job, launched, operation_job, run, schedule
from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.launch.active_host import HOST
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.retention import LedgerSum
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import Count
from tidegate.scheduler.store.commits.transaction import writing
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.open import commits_of
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.store.sql.commit_tables import commit_tokens
from tidegate.scheduler.store.sql.totals import PULSES
from tidegate.scheduler.store.upkeep import UpkeepStore, UpkeepTransaction
from tidegate.scheduler.tick.clock import CLOCK, TICKED

FAILED: dict[str, Any] = {"state": JobState.FAILED, "reason": Reason.F_RUN}
SEVERAL = event("several", key="fire:a/s:0", expired=True, number=7, first_at=NOON)
SUM = LedgerSum(schedule="a/s", day=NOON.date(), outcome="failed", reason="F-RUN", events=5)


def sum_and_drop(transaction: EngineTransaction) -> None:
    transaction.add_sums(transaction.events_of_jobs(["j"]))
    transaction.drop_jobs(["j"])


OF_SEVERAL = 3
"""So many steps at the end have what an older store never had."""

STEPS: list[Callable[[EngineTransaction], Any]] = [
    lambda tx: tx.add_events([event("e1"), event("e2"), event("e3", key="fire:a/s:0")]),
    lambda tx: tx.add_events([event("e1")]),
    lambda tx: tx.put_jobs([job("j"), job("k", schedule="a/t")]),
    lambda tx: tx.add_deliveries([delivery(event("e1"), job="j"), delivery(event("e1"), job="j", leaf="b")]),
    lambda tx: tx.add_deliveries([delivery(event("e2"), job="j", reason="D-EXPIRED")]),
    lambda tx: tx.add_deliveries([delivery(event("e3"), reason="D-SUSPENDED")]),
    lambda tx: tx.add_deliveries([delivery(event("e3"), job="k", schedule="a/t")]),
    lambda tx: tx.add_launches([launched("j"), launched("k"), launched("j", program="b/p")]),
    lambda tx: tx.put_runs([run("r", job="j")]),
    lambda tx: tx.put_jobs([job("j", state=JobState.LAUNCHED)]),
    lambda tx: tx.put_runs([run("r", RunStatus.FAILED, job="j")]),
    lambda tx: tx.put_jobs([job("j", **FAILED)]),
    # What is written again counts once.
    lambda tx: tx.put_jobs([job("j", **FAILED, raised=True)]),
    # A failed job is retried, and succeeds.
    lambda tx: tx.put_jobs([job("j", state=JobState.PENDING_LAUNCH)]),
    lambda tx: tx.put_jobs([job("j", state=JobState.SUCCEEDED)]),
    # Deliveries of a finished job change too.
    lambda tx: tx.add_deliveries([delivery(event("e3"), job="j")]),
    lambda tx: tx.remove_deliveries([delivery(event("e1"), job="j", leaf="b")]),
    lambda tx: tx.drop_launches(["k"]),
    lambda tx: tx.put_jobs([job("k", schedule="a/t", state=JobState.DISCARDED, reason=Reason.D_TIMEOUT)]),
    lambda tx: tx.add_sums([SUM]),
    lambda tx: tx.rename(Renames(apps={"a": "z"})),
    lambda tx: tx.put_jobs([job("j", schedule="z/s", **FAILED)]),
    sum_and_drop,
    lambda tx: tx.forget_events(["e1", "e2"]),
    lambda tx: tx.forget_runs(["r"]),
    lambda tx: tx.drop_launches(["j"]),
    # A row of several fires.
    lambda tx: tx.add_events([SEVERAL]),
    lambda tx: tx.add_deliveries([delivery(SEVERAL, reason="D-EXPIRED")]),
    lambda tx: (tx.add_sums(tx.events_without_job(["several"])), tx.forget_events(["several"])),
]


def counted(reader: EngineReader) -> tuple[Any, ...]:
    """The ledger and all counts."""
    pages = [reader.ledger(after=after, limit=1) for after in ("", "a/s", "z/s")]
    pages += [reader.ledger(app=app, after="a/s", limit=limit) for app in ("a", "z") for limit in (1, 2)]
    return (
        pages,
        reader.ledger(),
        reader.ledger(app="a"),
        msgspec.structs.replace(reader.counts(), bytes=None),
    )


def both(stores: tuple[Store, Store], step: Callable[[EngineTransaction], Any]) -> None:
    """Do a step in both stores, which count the same before and after they commit."""
    found = []
    for store in stores:
        with store.transaction() as transaction:
            step(transaction)
            found.append(counted(transaction))
    assert found[0] == found[1]
    found.clear()
    for store in stores:
        with store.reading() as reader:
            found.append(counted(reader))
    assert found[0] == found[1]


def test_each_step_counts_as_in_memory(sql_store: Store) -> None:
    memory = ReferenceStore()
    for step in STEPS:
        both((sql_store, memory), step)


def test_all_steps_in_one_transaction_count_as_one_by_one(sql_store: Store) -> None:
    def every(transaction: EngineTransaction) -> None:
        for step in STEPS:
            step(transaction)

    both((sql_store, ReferenceStore()), every)


def test_what_is_rolled_back_does_not_count(sql_store: Store) -> None:
    with sql_store.reading() as reader:
        before = counted(reader)
    with pytest.raises(ZeroDivisionError), sql_store.transaction() as transaction:
        for step in STEPS[:12]:
            step(transaction)
        counted(transaction)
        raise ZeroDivisionError
    with sql_store.reading() as reader:
        assert counted(reader) == before


DEAD: dict[str, Any] = {"state": JobState.FAILED, "reason": Reason.F_LAUNCH}


def numbers(found: tuple[Count, ...]) -> list[tuple[str, str, int]]:
    return [(each.app, each.label, each.number) for each in found]


def test_a_store_counts_what_it_has(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules(
            [schedule("b/s", status="suspended"), schedule("a/s"), schedule("a/t"), schedule("a/u")]
        )
        transaction.put_runs(
            [
                run("r1", program="a/p"),
                run("r2", program="a/q"),
                run("r3", RunStatus.SUCCEEDED, program="a/p"),
                run("r4", program="b/p"),
            ]
        )
        transaction.add_launches(
            [launched("1", program="a/p"), launched("2", program="a/q"), launched("3", program="b/p")]
        )
        transaction.add_events(
            [
                event("e1", key="partition:a/d"),
                event("e2", key="partition:a/e"),
                event("e3", key="fire:a/s:0"),
                event("e4", key="run:b/p:succeeded"),
            ]
        )
        transaction.put_jobs(
            [
                job("j1", **DEAD),
                job("j2", schedule="b/s", **DEAD),
                job("j3", state=JobState.FAILED, reason=Reason.F_RUN),
                operation_job("j4", **DEAD),
                job("j5"),
            ]
        )
    with store.reading() as reader:
        found = reader.counts()
    assert numbers(found.schedules) == [("a", "active", 3), ("b", "suspended", 1)]
    assert numbers(found.runs) == [("a", "started", 2), ("a", "succeeded", 1), ("b", "started", 1)]
    assert numbers(found.launches) == [("a", "", 2), ("b", "", 1)]
    assert numbers(found.events) == [("a", "fire", 1), ("a", "partition", 2), ("b", "run", 1)]
    assert numbers(found.dead_letters) == [("a", "", 1), ("b", "", 1)]


def test_only_a_database_has_a_size(store: Store) -> None:
    with store.reading() as reader:
        found = reader.counts()
    assert (found.schedules, found.runs, found.events) == ((), (), ())
    assert found.bytes is None or found.bytes > 10_000


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
