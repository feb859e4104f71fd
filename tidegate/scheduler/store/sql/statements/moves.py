"""Moves of rows from one name to another, in the caller's transaction."""

from typing import Any

from sqlalchemy import Column, Connection, func, update

from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT


def move(connection: Connection, column: Column[Any], old: str, new: str) -> None:
    """Give the rows that have a name in a column the new name."""
    connection.execute(update(column.table).where(column == old).values({column: new}))


def move_prefix(connection: Connection, column: Column[Any], old: str, new: str) -> None:
    """Give the rows whose name begins with a prefix the new prefix."""
    rest = func.substr(column, len(old) + 1)
    connection.execute(
        update(column.table).where(column >= old, column < old + LAST_CODE_POINT).values({column: new + rest})
    )
