"""How Dagster's storages connect to a SQLite file.

Why: connections that are kept must behave as those that Dagster opens for each statement.
Since: Dagster 1.5 or before.
"""

from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import create_db_conn_string

__all__ = ["create_db_conn_string", "create_engine"]
