"""How Dagster's storages connect to a SQLite file.

Why: connections that are kept must behave as those that Dagster opens for each statement.
Since: Dagster 1.13.
"""

from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string

__all__ = ["SQLITE_BUSY_TIMEOUT_SECONDS", "create_db_conn_string", "create_engine"]
