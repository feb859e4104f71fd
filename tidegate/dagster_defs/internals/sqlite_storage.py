"""Dagster's storages in SQLite files, to be subclassed, and how they connect to a file.

Why: `storage:` in `dagster.yaml` takes any class, but nothing public says how Dagster's own are created and
migrated; connections that are kept must behave as those that Dagster opens for each statement.
Since: Dagster 1.5 or before.
"""

from dagster._core.event_api import EventHandlerFn
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS, DagsterEventBatchMetadata
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.event_log import sqlite
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import (
    SQLITE_EVENT_LOG_FILENAME,
    ConsolidatedSqliteEventLogStorage,
)
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sql import (
    AlembicVersion,
    check_alembic_revision,
    create_engine,
    get_alembic_config,
    stamp_alembic_rev,
)
from dagster._core.storage.sqlite import create_db_conn_string

__all__ = [
    "ASSET_CHECK_EVENTS",
    "ASSET_EVENTS",
    "INDEX_SHARD_NAME",
    "SQLITE_EVENT_LOG_FILENAME",
    "AlembicVersion",
    "ConsolidatedSqliteEventLogStorage",
    "DagsterEventBatchMetadata",
    "DagsterStorage",
    "EventHandlerFn",
    "SqlEventLogStorageMetadata",
    "SqlPollingEventWatcher",
    "SqliteEventLogStorage",
    "SqliteScheduleStorage",
    "check_alembic_revision",
    "create_db_conn_string",
    "create_engine",
    "get_alembic_config",
    "sqlite",
    "stamp_alembic_rev",
]
