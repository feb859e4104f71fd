"""The storages of runs and of events that are SQL databases, and the table of the events.

Why: one query reads the new rows of all assets, where the public API needs one for each; a lock uses the
connection of the runs, the host keeps their answers, and one is subclassed. The public instance hides all
of this.
Since: Dagster 1.5 or before.
"""

from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage, SqlRunStorage

__all__ = ["SqlEventLogStorage", "SqlEventLogStorageTable", "SqlRunStorage", "SqliteRunStorage"]
