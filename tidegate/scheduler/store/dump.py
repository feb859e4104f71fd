"""The common form of all that a store holds, so that two stores can be compared.

Rows become plain JSON values. Every table is sorted but the journal, whose order is part of
what it says. Numbers that a database hands out by itself, such as those of the journal, are
not part of it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


def dump_values(*, journal: Iterable[Any], **tables: Iterable[Any]) -> Mapping[str, Any]:
    """Every table as plain JSON values.

    Args:
        journal: its entries, in the order in which they were written.
        tables: the rows of each other table, in any order.
    """
    dumped: dict[str, Any] = {
        name: sorted((msgspec.to_builtins(row) for row in rows), key=msgspec.json.encode)
        for name, rows in tables.items()
    }
    return {**dumped, "journal": [msgspec.to_builtins(entry) for entry in journal]}
