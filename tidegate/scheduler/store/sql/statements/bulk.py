"""Sets of rows and sets of names, each in one statement whose text never depends on their number.

SQLite lives in this process and runs a prepared INSERT for each row. To PostgreSQL a set travels as one
JSON text, which the server turns into rows: one round trip, and nothing to quote on our side.
A list of names in a question is a JSON array in SQLite, an array in PostgreSQL; so no list is
too long for a statement, and no database has to parse it again for each length.

Rows hold what the database holds (see `Codec`). Only the store's own tables and columns get into the text.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    ScalarSelect,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    func,
    select,
    true,
)
from sqlalchemy.sql.selectable import TableValuedAlias

from tidegate.scheduler.store.sql.columns import Held
from tidegate.scheduler.store.sql.connection.engine import has_changed, note_written

ROWS_PER_TEXT = 10_000
"""Rows in one JSON text for PostgreSQL: some megabytes."""

OnConflict = Literal["fail", "leave", "replace", "add"]
"""What becomes of a row whose key the table has.

An error, the old row stays, the new one does, or the values of the new one are added to those of the old one.
"""


def insert(
    connection: Connection,
    table: Table,
    names: Sequence[str],
    rows: Sequence[Held],
    *,
    on_conflict: OnConflict,
) -> None:
    """Insert rows, in their order.

    Args:
        names: of the columns, in the order of the rows' values.
    """
    if on_conflict == "replace":
        # PostgreSQL refuses to change one row twice in a statement; the last value of a key counts.
        places = [names.index(column.name) for column in table.primary_key]
        rows = list({tuple(row[place] for place in places): row for row in rows}.values())
    text = _insert(connection.dialect, table, tuple(names), on_conflict)
    # What is left may change nothing, which only the answer says; what is added is at the end.
    waits = on_conflict == "add" or (text.endswith("DO NOTHING") and not has_changed(connection))
    _run(connection, table, text, names, rows, waits=waits)


def delete(connection: Connection, table: Table, names: Sequence[str], keys: Sequence[Held]) -> None:
    """Delete the rows with these keys.

    Args:
        names: of the columns of the key, in the order of the keys' values.
    """
    text = _delete(connection.dialect, table, tuple(names))
    _run(connection, table, text, names, keys, waits=not has_changed(connection))


def among(dialect: str, column: ColumnElement[Any], parameter: str) -> ColumnElement[bool]:
    """Whether a column has one of the values of a parameter, which `listed` makes."""
    if dialect == "postgresql":
        return column == any_(bindparam(parameter, type_=ARRAY(Text)))
    return column.in_(select(given(dialect, parameter).c.value))


def given(dialect: str, parameter: str) -> TableValuedAlias:
    """The values of a parameter, which `listed` makes, as a table with one column, `value`."""
    if dialect == "postgresql":
        values = func.unnest(bindparam(parameter, type_=ARRAY(Text)))
        return values.table_valued("value", name="given").render_derived()
    return func.json_each(bindparam(parameter, type_=Text)).table_valued("value", name="given")


def newest_of(
    dialect: str,
    wanted: TableValuedAlias,
    shown: Sequence[Column[Any]],
    where: Sequence[ColumnElement[bool]],
    *,
    by: Column[Any],
) -> Select[*tuple[Any, ...]]:
    """Return the query for the newest row of each value, of those with any: the value, then the columns.

    Args:
        wanted: the values, see `given`.
        shown: the columns; the first one is the id of a row.
        where: which rows are those of a value.
        by: the instant of a row; of rows of one instant the last id counts.
    """
    id_ = shown[0]
    newest = select(*shown).where(*where).order_by(by.desc(), id_.desc()).limit(1).correlate(wanted)
    if dialect == "postgresql":
        # It would join the whole table to the ids.
        each = newest.lateral("newest")
        return select(wanted.c.value, *each.c).join_from(wanted, each, true())
    # SQLite has no LATERAL.
    of_value = newest.with_only_columns(id_).scalar_subquery()
    found = select(wanted.c.value, of_value.label("id")).cte("found").prefix_with("MATERIALIZED")
    return select(found.c.value, *shown).join_from(found, id_.table, id_ == found.c.id)


def listed(dialect: str, values: Iterable[str]) -> str | list[str]:
    """Return the parameter for a list of names, without duplicates."""
    distinct = sorted({str(value) for value in values})
    return distinct if dialect == "postgresql" else msgspec.json.encode(distinct).decode()


def _run(
    connection: Connection,
    table: Table,
    text: str,
    names: Sequence[str],
    rows: Sequence[Held],
    *,
    waits: bool,
) -> None:
    """Run a statement with rows.

    Args:
        waits: whether its answer is needed, which says if it has changed anything.
    """
    if not rows:
        return
    if connection.dialect.name != "postgresql":
        connection.exec_driver_sql(text, list(rows))
        return
    from tidegate.scheduler.store.sql.connection.postponed import may_postpone, postpone

    for start in range(0, len(rows), ROWS_PER_TEXT):
        part = [dict(zip(names, row, strict=True)) for row in rows[start : start + ROWS_PER_TEXT]]
        encoded = msgspec.json.encode(part).decode()
        if waits or not may_postpone(connection):
            connection.exec_driver_sql(text, {"rows": encoded})
        else:
            note_written(connection, table.name)
            postpone(connection, text, encoded)


@lru_cache
def _insert(dialect: Dialect, table: Table, names: tuple[str, ...], on_conflict: OnConflict) -> str:
    columns = ", ".join(_quoted(names))
    if dialect.name == "postgresql":
        # The number of a row is given in the order of the rows.
        values = f"SELECT {columns} FROM {_as_rows(dialect, table, names)} ORDER BY ordinality"
    else:
        values = f"VALUES ({', '.join('?' for _ in names)})"
    text = f'INSERT INTO "{table.name}" ({columns}) {values}'
    if on_conflict == "fail":
        return text
    key = [column.name for column in table.primary_key]
    if on_conflict == "leave" or set(names) == set(key):
        return f"{text} ON CONFLICT DO NOTHING"
    old = '"{0}"."{1}" + ' if on_conflict == "add" else ""
    changed = ", ".join(
        f'"{name}" = {old.format(table.name, name)}excluded."{name}"' for name in names if name not in key
    )
    return f"{text} ON CONFLICT ({', '.join(_quoted(key))}) DO UPDATE SET {changed}"


@lru_cache
def _delete(dialect: Dialect, table: Table, names: tuple[str, ...]) -> str:
    if dialect.name == "postgresql":
        same = " AND ".join(f'"{table.name}"."{name}" = given."{name}"' for name in names)
        return f'DELETE FROM "{table.name}" USING {_as_rows(dialect, table, names)} WHERE {same}'
    same = " AND ".join(f'"{name}" = ?' for name in names)
    return f'DELETE FROM "{table.name}" WHERE {same}'


def _as_rows(dialect: Dialect, table: Table, names: tuple[str, ...]) -> str:
    """The JSON text as a table `given`, with the number of each row as `ordinality`."""
    typed = ", ".join(f'"{name}" {table.c[name].type.compile(dialect)}' for name in names)
    columns = ", ".join((*_quoted(names), "ordinality"))
    return f"ROWS FROM (json_to_recordset(%(rows)s) AS ({typed})) WITH ORDINALITY AS given({columns})"


def _quoted(names: Sequence[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def in_query(dialect: str, column: ColumnElement[str], ids: ScalarSelect[str]) -> ColumnElement[bool]:
    """Return the condition that a column has one of the ids that a query finds."""
    if dialect == "postgresql":
        # It would read the whole table for a join; an array is looked up in an index.
        return column == any_(func.array(ids, type_=ARRAY(Text)))
    return column.in_(ids)
