"""Kinds of records: what the store reads by its key alone, each declared once, beside its value.

    TOKENS = Kind(name="tokens", value=Token, key=("name",))

`records`, `due_records`, `put_records` and `drop_records` of a store work on every kind. A new one costs this
line, and its table in `scheduler.store.sql.records.by_key`; the store in memory takes it as it is.
"""

from collections.abc import Collection, Mapping
from typing import Any, Generic, TypeVar

from tidegate.domain.value import Value

V = TypeVar("V", bound=Value)

Key = str | tuple[Any, ...]
"""A key, or the fields that a key begins with; a text is one of a single field."""


class Kind(Value, Generic[V], kw_only=True):
    """One kind of records.

    Attributes:
        name: of its table.
        value: the type of its records.
        key: the fields that tell records apart.
        by: further fields by which records are found; a table of many records has an index of each.
        order: the fields by which records are sorted; those of the key if it is empty.
        due: the field with the instant at which a record is due; an index has those that have one.
    """

    name: str
    value: type[V]
    key: tuple[str, ...]
    by: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    due: str = ""

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or self.key

    def key_of(self, value: V) -> tuple[Any, ...]:
        """Return the key of a record."""
        return tuple(getattr(value, name) for name in self.key)

    def place_of(self, value: V) -> tuple[Any, ...]:
        """Return the sort key of a record."""
        return tuple(getattr(value, name) for name in self.sorted_by)

    def due_at(self, value: V) -> Any:
        """Return the instant at which a record is due; None if it is not."""
        return getattr(value, self.due)

    def narrowed_by(self, among: Mapping[str, Collection[str] | None]) -> dict[str, Collection[str]]:
        """Return the values that fields may have, of the fields that narrow a question.

        Raises:
            ValueError: records are not found by one of the fields.
        """
        unknown = among.keys() - {*self.key, *self.by}
        if unknown:
            raise ValueError(f"the records of {self.name} are not found by {min(unknown)}")
        return {
            name: (values,) if isinstance(values, str) else values
            for name, values in among.items()
            if values is not None
        }


def whole(key: Key) -> tuple[Any, ...]:
    """Return the fields of a key."""
    return (key,) if isinstance(key, str) else key
