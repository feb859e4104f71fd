"""The storages of runs and of events that are SQL databases, and the tables of events, runs and their tags.

Why: one query reads the new rows of all assets, where the public API needs one for each; one finds the first
run of the queue, where the public API reads all of it; a lock uses the connection of the runs, the host keeps
their answers, and one is subclassed. The public instance hides all of this.
Since: Dagster 1.5 or before.
"""

from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage, SqlRunStorage
from dagster._core.storage.runs.schema import RunsTable, RunTagsTable

__all__ = [
    "RunTagsTable",
    "RunsTable",
    "SqlEventLogStorage",
    "SqlEventLogStorageTable",
    "SqlRunStorage",
    "SqliteRunStorage",
]
