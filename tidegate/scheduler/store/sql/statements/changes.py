"""Changes of the store in SQL: values are put and rows deleted in sets (see `bulk`)."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, delete

from tidegate.domain.value import Value
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import OnConflict, among, listed
from tidegate.scheduler.store.sql.statements.codec import Codec
from tidegate.scheduler.store.sql.statements.queries import Queries

V = TypeVar("V", bound=Value)


class Changes(Queries):
    """Changes tables on a connection."""

    def _put(self, codec: Codec[V], values: Sequence[V], on_conflict: OnConflict = "replace") -> None:
        """Write values."""
        rows = [codec.row(value) for value in values]
        bulk.insert(self._connection, codec.table, codec.names, rows, on_conflict=on_conflict)

    def _delete(self, column: Column[Any], values: Collection[str]) -> None:
        """Delete the rows that have one of these values in a column."""
        if values:
            names = {"names": listed(self._dialect, values)}
            self._connection.execute(delete(column.table).where(among(self._dialect, column, "names")), names)
