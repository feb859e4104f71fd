"""Transactions of every store: all or nothing, one after the other, and never in a reader's way."""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Generator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy import event as events_of
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.samples import (
    NOON,
    app,
    at,
    delivery,
    entry,
    event,
    gauge,
    job,
    launched,
    operation_run,
    record,
    run,
    schedule,
    table,
)
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.run import GAUGES
from tidegate.scheduler.store.error import StoreBusy, StoreError
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.store.sql.connection import engine
from tidegate.scheduler.store.sql.connection.engine import BUSY_SECONDS, LOOK_SECONDS
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

THREADS = 4
INCREMENTS = 15


class Boom(Exception):
    """What goes wrong in the middle of a transaction."""


def write_everything(transaction: EngineTransaction) -> None:
    transaction.put_records(APPS, [app("a")])
    transaction.put_schedules([schedule("a/s")])
    transaction.add_events([event("e")])
    transaction.mark_routed(["e"])
    transaction.put_jobs([job("j")])
    transaction.add_deliveries([delivery(event("e"), job="j")])
    transaction.take_slots({"j": ["r"]})
    transaction.add_launches([launched("j")])
    transaction.put_records(GAUGES, [gauge("g")])
    transaction.put_runs([run("r")])
    transaction.claim("j", 1, "r", NOON)
    transaction.set_cursor("c", 1)
    transaction.add_journal([entry()])
    transaction.put_records(MAINTAINED_TABLES, [table("a/d")])
    transaction.put_records(MAINTENANCE_RECORDS, [record()])
    transaction.put_operation_runs([operation_run("j")])


def test_an_exception_takes_everything_back(store: Store) -> None:
    before = dump(store)
    with pytest.raises(Boom), store.transaction() as transaction:
        write_everything(transaction)
        raise Boom
    assert dump(store) == before


def test_an_exception_takes_back_changes_and_removals_too(store: Store) -> None:
    with store.transaction() as transaction:
        write_everything(transaction)
    before = dump(store)
    with pytest.raises(Boom), store.transaction() as transaction:
        transaction.put_jobs([job("j", detail="changed"), job("k")])
        transaction.release_slots("j")
        transaction.drop_launches(["j"])
        transaction.put_records(GAUGES, [gauge("g", 2), gauge("h")])
        transaction.remove_deliveries([delivery(event("e"), job="j")])
        transaction.delete_schedules(["a/s"])
        transaction.drop_records(APPS, ["a"])
        transaction.add_journal([entry(), entry()])
        transaction.add_events([event("f")])
        transaction.add_deliveries([delivery(event("f"), job="j")])
        transaction.set_cursor("c", 2)
        transaction.put_records(MAINTAINED_TABLES, [table("a/d", gone=True), table("c.n.t")])
        transaction.put_records(MAINTENANCE_RECORDS, [record(policy="a/other")])
        transaction.drop_records(MAINTENANCE_RECORDS, [record.key for record in [record()]])
        transaction.put_operation_runs([operation_run("j", bytes=1), operation_run("k")])
        raise Boom
    assert dump(store) == before


def test_after_a_rollback_the_store_works_on(store: Store) -> None:
    with pytest.raises(Boom), store.transaction() as transaction:
        transaction.set_cursor("c", 1)
        raise Boom
    with store.transaction() as transaction:
        assert transaction.cursor("c") is None
        transaction.set_cursor("c", 2)
    with store.reading() as reader:
        assert reader.cursor("c") == 2


def test_a_transaction_reads_its_own_writes(store: Store) -> None:
    with store.transaction() as transaction:
        write_everything(transaction)
        assert transaction.records(APPS) == (app("a"),)
        assert transaction.schedules() == (schedule("a/s"),)
        assert transaction.events() == (event("e"),)
        assert transaction.unrouted_events(1) == ()
        assert transaction.jobs() == (job("j"),)
        assert transaction.deliveries(["j"]) == {"j": (delivery(event("e"), job="j"),)}
        assert transaction.slots(["r"]) == {"r": 1}
        assert transaction.launches(["a/p"], at(-1)) == {"a/p": (NOON,)}
        assert transaction.records(GAUGES) == (gauge("g"),)
        assert transaction.runs() == (run("r"),)
        assert transaction.claim_of("j", 1) == "r"
        assert transaction.cursor("c") == 1
        assert transaction.journal() == (entry(),)
        assert transaction.ledger()[0].pending == 1
        assert transaction.records(MAINTAINED_TABLES) == (table("a/d"),)
        assert transaction.records(MAINTENANCE_RECORDS) == (record(),)
        assert transaction.operation_runs() == (operation_run("j"),)


def test_a_reader_neither_waits_for_an_open_transaction_nor_sees_it(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.set_cursor("c", "old")
    with store.transaction() as transaction:
        write_everything(transaction)
        transaction.set_cursor("c", "new")
        with store.reading() as reader:
            assert reader.cursor("c") == "old"
            assert reader.jobs() == ()


def test_a_reader_goes_on_seeing_what_it_saw_first(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs([job("j", detail="old")])
    with store.reading() as reader:
        assert reader.journal() == ()
        with store.transaction() as transaction:
            transaction.put_jobs([job("j", detail="new"), job("k")])
            transaction.add_journal([entry()])
        assert [found.detail for found in reader.jobs()] == ["old"]
        assert reader.journal() == ()
    with store.reading() as reader:
        assert len(reader.jobs()) == 2


def test_threads_never_lose_each_others_updates(store: Store) -> None:
    failures: list[BaseException] = []

    def count_up() -> None:
        try:
            for _ in range(INCREMENTS):
                with store.transaction() as transaction:
                    transaction.set_cursor("count", (transaction.cursor("count") or 0) + 1)
        except BaseException as error:  # noqa: BLE001 - a thread's failure is asserted below
            failures.append(error)

    threads = [threading.Thread(target=count_up) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with store.reading() as reader:
        assert reader.cursor("count") == THREADS * INCREMENTS


def test_threads_never_take_a_slot_beyond_the_limit(store: Store) -> None:
    limit = 3
    taken: list[str] = []

    def take(holder: str) -> None:
        with store.transaction() as transaction:
            if transaction.slots(["r"])["r"] < limit:
                transaction.take_slots({holder: ["r"]})
                taken.append(holder)

    threads = [threading.Thread(target=take, args=(f"j{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == limit


def test_a_second_transaction_within_the_first_is_a_bug_that_is_told_not_a_hang() -> None:
    store = ReferenceStore()
    with pytest.raises(StoreError, match="open already"), store.transaction(), store.transaction():
        pass
    with store.transaction() as transaction:
        transaction.set_cursor("c", 1)


def test_an_instant_without_zone_is_refused(sql_store: Store) -> None:
    with pytest.raises(Exception, match="has no zone"), sql_store.transaction() as transaction:
        transaction.put_jobs([job("j", next_check_at=datetime(2026, 3, 10))])


def test_dumps_of_the_same_history_are_equal_in_every_store(store: Store) -> None:
    reference = ReferenceStore()
    for each in (store, reference):
        with each.transaction() as transaction:
            write_everything(transaction)
        with each.transaction() as transaction:
            transaction.put_jobs([job("i", opened_at=at(1))])
            transaction.add_journal([entry(schedule="b"), entry(schedule="a")])
    assert dump(store) == dump(reference)
    assert len(dump(store)["journal"]) == 3


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (DatabaseError("SELECT 1", None, Exception("server closed the connection")), StoreError),
        (OperationalError("SELECT 1", None, Exception("disk I/O error")), StoreError),
        (IntegrityError("INSERT", None, Exception("a bug of ours")), IntegrityError),
    ],
    ids=["lost in an answer", "failed", "a bug of ours"],
)
def test_what_the_database_fails_at_is_told_as_such_and_no_bug_is(
    failure: Exception, raised: type[Exception], tmp_path: Path
) -> None:
    opened = open_sql_store(f"sqlite:///{tmp_path}/store.db")
    with pytest.raises(raised), opened.transaction():
        raise failure
    opened.close()


def end_connections(store: SqlStore) -> None:
    """Let the server end every other connection to this database, as a restart does, and wait for it."""
    with create_engine(store.engine.url).connect() as killer:
        killer.execute(
            text(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


@pytest.mark.store
def test_a_server_that_goes_away_within_a_transaction_has_kept_nothing(postgres: SqlStore) -> None:
    with (
        pytest.raises(StoreError, match="nothing of this transaction was kept"),
        postgres.transaction() as transaction,
    ):
        transaction.set_cursor("c", 1)
        end_connections(postgres)
        transaction.set_cursor("c", 2)
    with postgres.transaction() as transaction:
        assert transaction.cursor("c") is None


@pytest.mark.store
def test_a_server_that_goes_away_at_the_commit_may_have_kept_it(postgres: SqlStore) -> None:
    # The commit itself meets it: what the transaction writes at its end, the count of changes, is written.
    events_of.listen(postgres.engine, "commit", lambda _: end_connections(postgres), once=True)
    with pytest.raises(StoreError, match="kept whole or not at all"), postgres.transaction() as transaction:
        transaction.set_cursor("c", 1)
    with postgres.transaction() as transaction:
        assert transaction.cursor("c") is None


@pytest.mark.store
def test_whoever_goes_on_after_the_server_went_away_is_told_so_again(postgres: SqlStore) -> None:
    with pytest.raises(StoreError, match="failed"), postgres.transaction() as transaction:
        transaction.set_cursor("c", 1)
        end_connections(postgres)
        with contextlib.suppress(OperationalError):
            transaction.set_cursor("c", 2)
        transaction.set_cursor("c", 3)


@pytest.mark.store
def test_a_reader_is_told_that_the_server_went_away_and_the_next_one_reads(postgres: SqlStore) -> None:
    with pytest.raises(StoreError, match="failed"), postgres.reading() as reader:
        assert reader.cursor("c") is None
        end_connections(postgres)
        reader.cursor("c")
    with postgres.reading() as reader:
        assert reader.cursor("c") is None


def test_a_rehearsal_waits_for_a_writer_for_a_moment_only_and_keeps_nothing(
    sql_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.scheduler.store.sql.store.REHEARSAL_WAITS_SECONDS", 0.2)
    with sql_store.transaction() as writer:
        writer.set_cursor("c", 1)
        began = time.monotonic()
        with pytest.raises(StoreBusy, match=r"stayed locked for 0\.2 s"), sql_store.rehearsal():
            pass
        assert 0.2 <= time.monotonic() - began < BUSY_SECONDS / 2
    with sql_store.rehearsal() as transaction:
        assert transaction.cursor("c") == 1
        transaction.set_cursor("c", 2)
    with sql_store.reading() as reader:
        assert reader.cursor("c") == 1
    # The next writer waits as long as ever, on the same connection.
    with sql_store.transaction(), sql_store.engine.connect() as connection:
        if sql_store.engine.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == BUSY_SECONDS * 1000


@contextlib.contextmanager
def seen_to_look(path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[SqlStore]:
    """Yield a store in SQLite whose lock another writer gives back at the third look of the next one."""
    looks: list[float] = []
    with (
        contextlib.closing(open_sql_store(f"sqlite:///{path}/store.db")) as store,
        contextlib.closing(sqlite3.connect(path / "store.db", isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")

        def look(seconds: float) -> None:
            looks.append(seconds)
            if len(looks) == 3:
                other.execute("ROLLBACK")

        monkeypatch.setattr(engine, "sleep", look)
        yield store
    assert looks == [LOOK_SECONDS] * 3


def test_a_writer_that_waits_looks_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with seen_to_look(tmp_path, monkeypatch) as store, store.transaction() as transaction:
        transaction.set_cursor("c", 1)
