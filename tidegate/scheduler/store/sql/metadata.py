"""The one collection of tables of the schedule store; every module of tables adds its own.

Constraints have names made by rule, so that a migration can drop what another created.
"""

from typing import Any

from sqlalchemy import Column, ColumnElement, Index, MetaData, TextClause

NAMING: dict[str, str] = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING)


def partial_index(name: str, *columns: Column[Any], where: ColumnElement[bool] | TextClause) -> None:
    """Add an index of the rows for which a condition holds to the table of some columns.

    The revisions create it, in either database. PostgreSQL's own option for the condition is left out: it
    would import that dialect with all its drivers into each process that opens a SQLite file.
    """
    Index(name, *columns, sqlite_where=where)
