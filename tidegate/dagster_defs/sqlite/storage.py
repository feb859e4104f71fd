"""Dagster's three storages in a folder: runs, the event log, and ticks with switches.

    history/runs.db          runs, as Dagster's own storage has them
    history/event_log.db     the events of all runs
    history/runs/*.db        Dagster's own event log; where it exists and the other does not, it is used on
    schedules/schedules.db   ticks and switches, as Dagster's own storage has them

A file is created by one process while the others wait, even with looking whether it is complete: they would
meet the locks that SQLite takes at once or not at all, as that of a change to write-ahead logging.

A Dagster instance whose default storage is `SqliteStorage` in DAGSTER_HOME. It adds nothing else to an
instance. `storage:` alone cannot do this: a storage does not know DAGSTER_HOME, and `dagster dev` has a
temporary one.
"""

import fcntl
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

import yaml
from dagster import DagsterInstance, EventLogEntry, Field, StringSource
from sqlalchemy import Connection, text

from tidegate.dagster_defs.internals.instance import (
    ConfigurableClass,
    ConfigurableClassData,
    InstanceRef,
    UserConfigSchema,
)
from tidegate.dagster_defs.internals.sql_storages import SqliteRunStorage
from tidegate.dagster_defs.internals.sqlite_storage import (
    INDEX_SHARD_NAME,
    SQLITE_EVENT_LOG_FILENAME,
    DagsterEventBatchMetadata,
    DagsterStorage,
    SqliteEventLogStorage,
    SqliteScheduleStorage,
)
from tidegate.dagster_defs.sqlite.connections import Connections
from tidegate.dagster_defs.sqlite.event_log import KeptEventLog
from tidegate.domain.error import UserError
from tidegate.scheduler.store.lock_holder import ANOTHER, lock_holder, try_lock


class SqliteInstance(DagsterInstance):
    """For `instance_class` in `dagster.yaml`."""

    @classmethod
    def config_schema(cls) -> Mapping[str, Field]:
        """Return its own keys in `dagster.yaml`: none."""
        return {}

    @classmethod
    def config_defaults(cls, base_dir: str) -> Mapping[str, ConfigurableClassData | None]:
        """Return what `dagster.yaml` need not name."""
        storage = ConfigurableClassData(
            SqliteStorage.__module__, SqliteStorage.__name__, yaml.dump({"base_dir": base_dir})
        )
        return {**InstanceRef.config_defaults(base_dir), "storage": storage}

    def handle_new_event(
        self, event: EventLogEntry, *, batch_metadata: DagsterEventBatchMetadata | None = None
    ) -> None:
        """Write an event, and the status that it gives its run; see `DagsterInstance.handle_new_event`.

        Dagster reads the run again after each status, and looks at it where the run has failed.
        """
        change = event.dagster_event
        is_status = change is not None and change.is_job_event and not change.is_run_failure
        if change is None or not is_status or batch_metadata is not None:
            super().handle_new_event(event, batch_metadata=batch_metadata)
        elif self.should_store_event(event):
            at = datetime.fromtimestamp(event.timestamp, UTC)
            self.event_log_storage.store_event(event)
            self.run_storage.handle_run_event(event.run_id, change, at)
            for heard in self._subscribers[event.run_id]:
                heard(event)


class _OnKeptConnections:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        super().__init__(connections.url)  # pyright: ignore[reportCallIssue] -- Dagster's storage has it

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """Yield a connection in a transaction."""
        with self._connections.connect() as connection:
            yield connection


class KeptRunStorage(_OnKeptConnections, SqliteRunStorage):
    """Runs in SQLite, with connections that are kept."""


class KeptScheduleStorage(_OnKeptConnections, SqliteScheduleStorage):
    """Ticks and switches in SQLite, with connections that are kept."""


HISTORY = "history"
SHARDS = Path(HISTORY, "runs")
SCHEDULES = "schedules"
CREATING = "creating.lock"
NOTES = "secondary_indexes"

LOCK_SECONDS = 60.0
"""How long a process waits for another one that creates a file, which takes seconds."""

LOOK_SECONDS = 0.02


class ShardedEventLog(SqliteEventLogStorage):
    """Dagster's event log with a file for each run, for an instance that has one already.

    The file that all runs share is asked ten times a second by the host, so its connections are kept.
    """

    def __init__(self, folder: str) -> None:
        self._index = Connections(folder, INDEX_SHARD_NAME)
        super().__init__(folder)

    @contextmanager
    def _connect(self, shard: str) -> Generator[Connection]:
        with self._index.connect() if shard == INDEX_SHARD_NAME else super()._connect(shard) as connection:
            yield connection


class SqliteStorage(DagsterStorage, ConfigurableClass):
    """SQLite files with connections that are kept, and the events of all runs in one file."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        """Args:
        base_dir: the folder, which is created.
        """
        self._inst_data = inst_data
        history, schedules = Path(base_dir, HISTORY), Path(base_dir, SCHEDULES)
        self._runs = KeptRunStorage(_created(history, "runs", partial(_create, SqliteRunStorage)))
        self._events = (
            ShardedEventLog(str(Path(base_dir, SHARDS)))
            if is_sharded(base_dir)
            else KeptEventLog(_created(history, SQLITE_EVENT_LOG_FILENAME, _create_events))
        )
        self._schedules = KeptScheduleStorage(
            _created(schedules, "schedules", partial(_create, SqliteScheduleStorage))
        )
        super().__init__()

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        """How this storage was configured."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        """Return the fields of its configuration."""
        return {"base_dir": StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> Self:
        """Return the storage of a configuration."""
        return cls(config_value["base_dir"], inst_data)

    def register_instance(self, instance: DagsterInstance) -> None:
        """Note the instance that uses it."""
        super().register_instance(instance)
        for storage in (self._runs, self._events, self._schedules):
            if not storage.has_instance:
                storage.register_instance(instance)

    @property
    def run_storage(self) -> KeptRunStorage:
        """The runs."""
        return self._runs

    @property
    def event_log_storage(self) -> KeptEventLog | ShardedEventLog:
        """The event log."""
        return self._events

    @property
    def schedule_storage(self) -> KeptScheduleStorage:
        """Ticks and switches."""
        return self._schedules

    # Processes of older versions of Dagster read these; there are none that know this storage.

    @property
    def run_storage_data(self) -> ConfigurableClassData | None:
        """Nothing."""
        return None

    event_storage_data = schedule_storage_data = run_storage_data

    def dispose(self) -> None:
        """End what the storages have started."""
        for storage in (self._events, self._runs, self._schedules):
            storage.dispose()


def is_sharded(base_dir: str) -> bool:
    """Return whether a folder has Dagster's own event log, with a file for each run, and no other."""
    consolidated = Path(base_dir, HISTORY, f"{SQLITE_EVENT_LOG_FILENAME}.db")
    return Path(base_dir, SHARDS, f"{INDEX_SHARD_NAME}.db").is_file() and not consolidated.is_file()


def _created(folder: Path, name: str, create: Callable[[Connections], None]) -> Connections:
    """Return the connections to a file, after it was created if it is not there or not complete."""
    folder.mkdir(parents=True, exist_ok=True)
    connections = Connections(str(folder), name)
    with _locked(folder / CREATING, fcntl.LOCK_SH):
        complete = _is_complete(connections)
    if not complete:
        with _locked(folder / CREATING, fcntl.LOCK_EX):
            if not _is_complete(connections):
                create(connections)
    return connections


def _is_complete(connections: Connections) -> bool:
    """Return whether a file has its tables, with what is written last: the notes of data migrations."""
    if not connections.path.is_file():
        return False
    with connections.connect() as connection:
        found = set(connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars())
        return {"alembic_version", NOTES} <= found and connection.execute(
            text(f"SELECT 1 FROM {NOTES} LIMIT 1")
        ).first() is not None


# Creation goes on where a process that was killed has left it.


def _create(storage: type[SqliteRunStorage | SqliteScheduleStorage], connections: Connections) -> None:
    created = storage.from_local(str(connections.path.parent))
    created.migrate()
    created.optimize()


def _create_events(connections: Connections) -> None:
    KeptEventLog(connections).create()


@contextmanager
def _locked(path: Path, kind: int) -> Generator[None]:
    """Wait for a lock that a process has for as long as it creates files.

    Raises:
        UserError: the process that has it hangs.
    """
    with path.open("a") as file:
        until = time.monotonic() + LOCK_SECONDS
        while not try_lock(file, kind):
            if time.monotonic() > until:
                raise _stays_locked(path)
            time.sleep(LOOK_SECONDS)
        yield


def _stays_locked(path: Path) -> UserError:
    holder = lock_holder(path)
    named = "" if holder else f" (`fuser {path}` names it)"
    return UserError(
        f"Dagster's storage in {path.parent} is being created for more than {LOCK_SECONDS:.0f} s"
        f" by {holder or ANOTHER}",
        f"end that process{named}, and start again: the creation goes on where it has stopped",
    )
