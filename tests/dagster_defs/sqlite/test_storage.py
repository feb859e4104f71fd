"""Dagster's storage in development: used by threads, processes and forks at once."""

import fcntl
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetObservation,
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRunStatus,
    EventLogEntry,
    MaterializeResult,
    StaticPartitionsDefinition,
    asset,
    materialize,
)
from dagster._core.test_utils import create_run_for_test

from tests.crashes.processes import in_children
from tests.dagster_defs.conftest import KEPT, ONE_FILE, SHARDED
from tests.doubles.stopped_process import LOCKS_A_FILE, stopped
from tidegate.dagster_defs.ingest.event_log import EventLog
from tidegate.dagster_defs.internals.sqlite_storage import ConsolidatedSqliteEventLogStorage
from tidegate.dagster_defs.sqlite.connections import GATE
from tidegate.dagster_defs.sqlite.event_log import KeptEventLog
from tidegate.dagster_defs.sqlite.storage import CREATING, HISTORY, ShardedEventLog, SqliteStorage
from tidegate.domain.error import UserError

pytestmark = pytest.mark.dagster

RAW = AssetKey("raw")


@contextmanager
def opened(home: Path) -> Iterator[DagsterInstance]:
    """The instance of a home whose dagster.yaml names our class."""
    (home / "dagster.yaml").write_text(yaml.dump({**KEPT, "telemetry": {"enabled": False}}))
    with DagsterInstance.from_config(str(home)) as instance:
        yield instance


@pytest.fixture
def home(empty_homes: dict[str, Path], tmp_path: Path) -> Path:
    shutil.copytree(empty_homes[ONE_FILE], tmp_path, dirs_exist_ok=True)
    return tmp_path


def report(instance: DagsterInstance, number: int) -> None:
    instance.report_runless_asset_event(AssetMaterialization(RAW, partition=str(number)))


def reported(instance: DagsterInstance) -> list[str]:
    records = instance.fetch_materializations(RAW, limit=1000).records
    return sorted((record.partition_key or "" for record in records), key=int)


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def report_in_a_process(home: str, numbers: range) -> None:
    with DagsterInstance.from_config(home) as instance:
        for number in numbers:
            report(instance, number)


def test_the_files_of_a_new_home_are_created_once_by_processes_that_begin_together(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text(yaml.dump(KEPT))
    works = [partial(report_in_a_process, str(tmp_path), range(n * 5, n * 5 + 5)) for n in range(2)]

    assert in_children(*works) == [0, 0]
    with opened(tmp_path) as instance:
        assert reported(instance) == numbers(10)
        for storage in (instance.event_log_storage, instance.run_storage, instance.schedule_storage):
            assert storage is not None
            found, newest = storage.alembic_version() or (None, "")
            assert found == newest
        instance.upgrade()
    assert not list((tmp_path / "history").glob("runs/*.db"))


def test_a_home_that_another_process_is_creating_is_not_opened_before_it_is_done(tmp_path: Path) -> None:
    (tmp_path / HISTORY).mkdir()
    locked = threading.Event()

    def create() -> None:
        with (tmp_path / HISTORY / CREATING).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with closing(sqlite3.connect(tmp_path / HISTORY / "runs.db")) as connection:
                connection.execute("CREATE TABLE written (number)")
                connection.execute("BEGIN IMMEDIATE")  # a change to WAL does not wait for it
                locked.set()
                time.sleep(0.5)
                connection.rollback()

    with ThreadPoolExecutor(1) as threads:
        creating = threads.submit(create)
        locked.wait(60)
        storage = SqliteStorage(str(tmp_path))
        creating.result()

    assert storage.run_storage.get_runs() == []


def test_a_process_that_hangs_while_it_creates_a_home_is_named_to_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.dagster_defs.sqlite.storage.LOCK_SECONDS", 0.1)
    (tmp_path / HISTORY).mkdir()
    with (
        stopped(LOCKS_A_FILE, tmp_path / HISTORY / CREATING) as pid,
        pytest.raises(UserError, match=rf"is being created .* by process {pid} \(.*, stopped\)") as raised,
    ):
        SqliteStorage(str(tmp_path))
    assert raised.value.hint.startswith("end that process, and start again")
    assert SqliteStorage(str(tmp_path)).run_storage.get_runs() == []


def test_a_creation_that_was_cut_short_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(KeptEventLog, "reindex_events", die)
        with pytest.raises(Killed):
            SqliteStorage(str(tmp_path))
    log = SqliteStorage(str(tmp_path)).event_log_storage

    assert isinstance(log, KeptEventLog)
    assert log.has_secondary_index("asset_key_index_columns")


def test_threads_share_an_instance(home: Path) -> None:
    with opened(home) as instance:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: report(instance, number), range(80)))
        assert reported(instance) == numbers(80)


def test_a_forked_process_and_its_parent_both_go_on(home: Path) -> None:
    with opened(home) as instance:
        report(instance, 0)
        busy = threading.Event()
        stop = threading.Event()

        def write() -> None:
            number = 100
            while not stop.is_set():
                report(instance, number)
                number += 1
                busy.set()

        writer = threading.Thread(target=write)
        writer.start()
        busy.wait()
        child = os.fork()
        if not child:
            try:
                for number in range(1, 10):
                    report(instance, number)
                os._exit(0)
            except BaseException:  # noqa: BLE001 -- the child must not go on as a test
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        report(instance, 10)
        stop.set()
        writer.join()
        assert reported(instance)[:11] == numbers(11)


def test_no_connection_is_open_in_the_moment_of_a_fork(home: Path) -> None:
    def files() -> list[str]:
        found = list(Path("/proc/self/fd").iterdir())
        return [
            str(each.readlink()) for each in found if each.is_symlink() and str(home) in str(each.readlink())
        ]

    with opened(home) as instance:
        report(instance, 0)
        assert any("event_log.db" in name for name in files())
        child = os.fork()
        if not child:
            os._exit(len(files()))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_waits_until_connections_are_returned(home: Path) -> None:
    order: list[str] = []
    inside, forking = threading.Event(), threading.Event()

    def use() -> None:
        with GATE.entered():
            inside.set()
            forking.wait()
            # A thread inside may enter again, also while another one wants to fork.
            with GATE.entered():
                order.append("used")

    user = threading.Thread(target=use)
    user.start()
    inside.wait()
    threading.Timer(0.05, forking.set).start()
    child = os.fork()
    if not child:
        os._exit(0 if order == ["used"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    user.join()


def test_a_file_that_was_replaced_is_not_written_any_more(home: Path, empty_homes: dict[str, Path]) -> None:
    with opened(home) as instance:
        report(instance, 0)
        for name in ("event_log.db", "event_log.db-wal", "event_log.db-shm"):
            (home / "history" / name).unlink(missing_ok=True)
        shutil.copy(empty_homes[ONE_FILE] / "history" / "event_log.db", home / "history")
        report(instance, 1)
    with opened(home) as instance:
        assert reported(instance) == ["1"]


def test_the_events_of_a_run_are_shown_while_it_goes_on(home: Path) -> None:
    with opened(home) as instance:
        run = create_run_for_test(instance)
        seen = threading.Event()

        def look(entry: EventLogEntry, _cursor: str) -> None:
            if entry.dagster_event_type is DagsterEventType.RUN_CANCELED:
                seen.set()

        instance.watch_event_logs(run.run_id, None, look)
        instance.report_run_canceled(run)
        assert seen.wait(30)
        instance.end_watch_event_logs(run.run_id, look)


def test_a_home_whose_log_has_a_file_for_each_run_goes_on_with_it(
    empty_homes: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(empty_homes[SHARDED], tmp_path, dirs_exist_ok=True)
    with DagsterInstance.from_config(str(tmp_path)) as before:
        report(before, 0)
        run = create_run_for_test(before)
        before.report_run_canceled(run)
    with opened(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, ShardedEventLog)
        report(instance, 1)
        assert reported(instance) == ["0", "1"]
        assert instance.all_logs(run.run_id)
        assert len(EventLog(instance).after(0)) == 3

    # How docs/dagster.md says to change: the runs stay.
    (tmp_path / "history" / "runs").rename(tmp_path / "old-runs")
    with opened(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, KeptEventLog)
        assert reported(instance) == []
        assert instance.has_run(run.run_id)


@asset(
    check_specs=[AssetCheckSpec("is_there", asset="landed")],
    partitions_def=StaticPartitionsDefinition(["a", "b"]),
)
def landed(context: AssetExecutionContext) -> Iterator[Any]:
    context.log_event(AssetObservation(RAW, tags={"seen": "yes"}))
    yield MaterializeResult(tags={"by": "hand"}, check_results=[AssetCheckResult(passed=True)])


WRITTEN = {
    "event_logs": "run_id, event, dagster_event_type, timestamp, step_key, asset_key, partition",
    "asset_keys": "asset_key, last_materialization, last_run_id, last_materialization_timestamp",
    "asset_event_tags": "asset_key, key, value, event_timestamp, event_id",
    "asset_check_executions": "asset_key, check_name, run_id, execution_status, partition",
}


def written(home: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(home / HISTORY / "event_log.db")) as file:
        rows = {table: file.execute(f"SELECT {names} FROM {table}") for table, names in WRITTEN.items()}
        return {table: sorted(map(tuple, found), key=str) for table, found in rows.items()}


def test_events_are_written_as_dagster_writes_them(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("plain")
    shutil.copytree(home, other, dirs_exist_ok=True)
    with opened(home) as instance:
        runs = [materialize([landed], instance=instance, partition_key=key).run_id for key in ("a", "b")]
        entries = [each for run_id in runs for each in instance.all_logs(run_id)]

    with opened(other) as instance:
        plain = ConsolidatedSqliteEventLogStorage(str(other / HISTORY))
        plain.register_instance(instance)
        for entry in entries:
            plain.store_event(entry)

    assert written(home) == written(other)
    assert all(written(home).values())


def test_a_status_is_written_and_heard_of_without_reading_its_run_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home) as instance:
        run_id, heard = create_run_for_test(instance, status=DagsterRunStatus.STARTED).run_id, list[str]()
        instance.add_event_listener(run_id, lambda event: heard.append(event.dagster_event_type.value))
        read = list[str]()
        with monkeypatch.context() as patch:
            patch.setattr(type(instance), "get_run_by_id", lambda _self, each: read.append(each))
            instance.report_dagster_event(DagsterEvent(DagsterEventType.RUN_SUCCESS.value, "job"), run_id)
        record = instance.get_run_record_by_id(run_id)

    assert (heard, read) == (["PIPELINE_SUCCESS"], [])
    assert record is not None
    assert record.dagster_run.status is DagsterRunStatus.SUCCESS
    assert record.end_time is not None
