"""The storages of runs and of events that are SQL databases, and the tables of events, runs and their tags.

Why: one query reads the new rows of all assets, where the public API needs one for each; one finds the first
run of the queue, where the public API reads all of it; a lock uses the connection of the runs, the host keeps
their answers, and one is subclassed. The public instance hides all of this.
Since: Dagster 1.5 or before.
"""

from dagster import DagsterInstance
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage, SqlRunStorage
from dagster._core.storage.runs.schema import RunsTable, RunTagsTable
from dagster._core.storage.schedules.sql_schedule_storage import SqlScheduleStorage

__all__ = [
    "RunTagsTable",
    "RunsTable",
    "SqlEventLogStorage",
    "SqlEventLogStorageTable",
    "SqlRunStorage",
    "SqlScheduleStorage",
    "SqliteRunStorage",
    "events_of",
    "runs_of",
]


def runs_of(instance: DagsterInstance) -> object:
    """Return the storage of runs. An instance may wrap its storages; the wrapped one has the connection."""
    return getattr(instance.run_storage, "run_storage", instance.run_storage)


def events_of(instance: DagsterInstance) -> object:
    """Return the storage of events, likewise."""
    return getattr(instance.event_log_storage, "event_log_storage", instance.event_log_storage)
