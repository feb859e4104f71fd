"""Dagster's storage in development: SQLite with connections that are kept, and one file for all events.

Dagster's own SQLite storages open an engine and a connection for each statement, and a file for each run.
Here the statements, tables and migrations are Dagster's; only the connections are ours.
"""

from tidegate.dagster_defs.sqlite.storage import SqliteInstance as SqliteInstance
from tidegate.dagster_defs.sqlite.storage import SqliteStorage as SqliteStorage
