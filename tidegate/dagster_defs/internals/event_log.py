"""The event logs that are SQL databases, and the table of their rows.

Why: one query reads the new rows of all assets; the public API needs one for each asset.
Since: Dagster 1.5 or before.
"""

from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

__all__ = ["SqlEventLogStorage", "SqlEventLogStorageTable"]
