"""The order of keys in the language: that of the schema, for the app and for each kind of part.

Names of parts keep the order of the file, and so do triggers and constraints, whose kind comes first by
habit.
"""

import json
from functools import lru_cache
from typing import Any

from tidegate.compiler.schema import schema_text

PARTS = {
    "datasets": "dataset",
    "programs": "program",
    "schedules": "schedule",
    "tasks": "task",
    "policies": "policy",
    "examples": "example",
}
"""The definition in the schema of what each section of an app holds."""

BEFORE = {
    "dataset": ("partitions", "format"),
    "schedule": ("for_each", "trigger"),
    "example": ("until", "expect"),
}
"""A key that comes right before another one, unlike in the schema: what a reader asks first."""

NO_ORDER: tuple[str, ...] = ()


def order_at(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the keys of the mapping at a path in their order; none where the file's order stays."""
    schema = _schema()
    match path:
        case ():
            return tuple(schema["properties"])
        case (str(section), _) if section in PARTS:
            kind = PARTS[section]
            keys = list(schema["$defs"][kind]["properties"])
            if kind in BEFORE:
                key, other = BEFORE[kind]
                keys.remove(key)
                keys.insert(keys.index(other), key)
            return tuple(keys)
        case _:
            return NO_ORDER


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schema_text())
    return found
