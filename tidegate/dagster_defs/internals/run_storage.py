"""The storages of runs that are SQL databases.

Why: a lock uses their connection, the host keeps their answers, and one is subclassed; the public instance
hides all of this.
Since: Dagster 1.5 or before.
"""

from dagster._core.storage.runs import SqliteRunStorage, SqlRunStorage

__all__ = ["SqlRunStorage", "SqliteRunStorage"]
