"""Merges the columns of a table with those of an output: existing columns first, then new ones.

Columns are given as Spark's JSON, so that a table can be published without a
session. A column that a publish leaves out keeps its place and has no values in that
publish's files. Names are case-insensitive, as in Spark. Pure functions.
"""

import json
from typing import Any, cast

Type = str | dict[str, Any]
"""A type in Spark's JSON: a name, or the parts of a struct, an array or a map."""


class ColumnClash(ValueError):
    """A column has one type in the table and another in the output."""


def union_columns(existing: str, incoming: str) -> str:
    """Return the columns of a table after a publish.

    Args:
        existing: columns of the table; "" for one that was never published.
        incoming: columns of the output.

    Raises:
        ColumnClash: the same column has two types.
    """
    if not existing:
        return _text(_optional(json.loads(incoming)))
    if existing == incoming:
        return existing
    return _text(_union(json.loads(existing), json.loads(incoming), ""))


def _text(columns: Type) -> str:
    return json.dumps(columns, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _union(existing: Type, incoming: Type, name: str) -> Type:
    """Return one type that holds the values of both. `name` is the column's, for the message."""
    if isinstance(existing, dict) and isinstance(incoming, dict) and existing["type"] == incoming["type"]:
        match existing["type"]:
            case "struct":
                return {"type": "struct", "fields": _union_fields(existing, incoming, name)}
            case "array":
                element = _union(existing["elementType"], incoming["elementType"], name)
                return {"type": "array", "elementType": element, "containsNull": True}
            case "map":
                key = _union(existing["keyType"], incoming["keyType"], name)
                value = _union(existing["valueType"], incoming["valueType"], name)
                return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
            case _:
                pass
    if existing == incoming:
        return existing
    raise ColumnClash(f"{name} is {_label(existing)} in the table and {_label(incoming)} in the output")


def _union_fields(existing: dict[str, Any], incoming: dict[str, Any], name: str) -> list[dict[str, Any]]:
    fields: dict[str, dict[str, Any]] = {
        field["name"].lower(): {**field, "nullable": True} for field in existing["fields"]
    }
    for field in cast(list[dict[str, Any]], incoming["fields"]):
        known = fields.get(field["name"].lower())
        inner = f"{name}.{field['name']}" if name else field["name"]
        fields[field["name"].lower()] = (
            {**field, "type": _optional(field["type"]), "nullable": True}
            if known is None
            else {**known, "type": _union(known["type"], field["type"], inner), "nullable": True}
        )
    return list(fields.values())


def _optional(kind: Type) -> Type:
    """Return the type with every part nullable: a later publish may leave it out."""
    return _union(kind, kind, "")


def _label(kind: Type) -> str:
    return kind if isinstance(kind, str) else str(kind["type"])
