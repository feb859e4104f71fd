"""What is left out of a snapshot: fields with the value that a reader takes for a field that is missing.

Half of the fields of an asset are empty, and reading them takes a third of what a reader needs. Which of them
may be missing is found out by reading an example without them.
"""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from dagster import deserialize_value, serialize_value

from tidegate.dagster_defs.definitions.snapshot import CRONS, NODES, Packed, first
from tidegate.dagster_defs.internals.snapshots import RepositorySnap

ENTRIES = "metadata_entries"
"""The list of an asset's metadata."""


class LeftOut:
    """Leaves out of the parts of a snapshot what a reader does not miss.

    Attributes:
        example: the example without it.
    """

    def __init__(self, example: Packed) -> None:
        entries = [entry for node in example[NODES] for entry in node[ENTRIES]]
        self._fields: dict[str, frozenset[str]] = dict.fromkeys((NODES, CRONS, ENTRIES), frozenset())
        self._node = first(example[NODES])
        self._bare = example | {NODES: [], CRONS: []}
        found = {
            NODES: self._missed_by_none(NODES, example[NODES]),
            CRONS: self._missed_by_none(CRONS, example[CRONS]),
            ENTRIES: self._missed_by_none(ENTRIES, entries),
        }
        whole = _read(example)
        self._fields |= found
        self.example = example | {
            name: [self.short(name, {**part}) for part in example[name]] for name in (NODES, CRONS)
        }
        if _read(self.example) != whole:
            self._fields, self.example = dict.fromkeys(found, frozenset()), example

    def _missed_by_none(self, name: str, parts: Sequence[Packed]) -> frozenset[str]:
        """Return the fields that may be missing where they are empty, each seen in the first such part."""
        empty = dict[str, Packed]()
        for part in parts:
            for field, value in part.items():
                if _is_empty(value):
                    empty.setdefault(field, part)
        return frozenset(
            field
            for field, part in empty.items()
            if self._read_one(name, _without(part, {field})) == self._read_one(name, part)
        )

    def _read_one(self, name: str, part: Packed) -> str | None:
        if name == ENTRIES:
            return _read(self._bare | {NODES: [self._node | {ENTRIES: [part]}]})
        return _read(self._bare | {name: [part]})

    def short(self, name: str, part: Packed) -> Packed:
        """Take out of a new part of a list what is left out, and return it.

        Args:
            name: of the list.
        """
        for field in self._fields[name]:
            if field in part and _is_empty(part[field]):
                del part[field]
        if name == NODES and self._fields[ENTRIES] and ENTRIES in part:
            part[ENTRIES] = [self.short(ENTRIES, {**entry}) for entry in part[ENTRIES]]
        return part


def _read(book: Packed) -> str | None:
    """Return a snapshot as a reader has it; None if it cannot be read."""
    try:
        return serialize_value(deserialize_value(msgspec.json.encode(book).decode(), RepositorySnap))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _without(part: Packed, fields: Collection[str]) -> Packed:
    return {field: value for field, value in part.items() if field not in fields or not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    if value is None or value is False:
        return True
    return isinstance(value, list | dict) and (not value or value == {"__set__": []})
