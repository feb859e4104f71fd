"""The columns of a table that grows: those that stand there, and then those that come new.

Columns are told by Spark's JSON of them, so that a table can be published where no session
runs. A column that one publish leaves out keeps its place, and has no values in that
publish's files. Names differ by more than their case, as in Spark. Pure values here.
"""

import json
from typing import Any, cast

Type = str | dict[str, Any]
"""A type in Spark's JSON: a name, or what a struct, an array or a map is made of."""


class ColumnClash(ValueError):
    """A column has one type in the table and another in the output."""


def united_columns(standing: str, coming: str) -> str:
    """The columns of a table after a publish.

    Args:
        standing: columns of the table; "" for one that was never published.
        coming: columns of the output.

    Raises:
        ColumnClash: the same column has two types.
    """
    if not standing:
        return _text(_optional(json.loads(coming)))
    if standing == coming:
        return standing
    return _text(_united(json.loads(standing), json.loads(coming), ""))


def _text(columns: Type) -> str:
    return json.dumps(columns, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _united(standing: Type, coming: Type, name: str) -> Type:
    """One type that holds the values of both. `name` is the column's, for the message."""
    if isinstance(standing, dict) and isinstance(coming, dict) and standing["type"] == coming["type"]:
        match standing["type"]:
            case "struct":
                return {"type": "struct", "fields": _united_fields(standing, coming, name)}
            case "array":
                element = _united(standing["elementType"], coming["elementType"], name)
                return {"type": "array", "elementType": element, "containsNull": True}
            case "map":
                key = _united(standing["keyType"], coming["keyType"], name)
                value = _united(standing["valueType"], coming["valueType"], name)
                return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
            case _:
                pass
    if standing == coming:
        return standing
    raise ColumnClash(f"{name} is {_spoken(standing)} in the table and {_spoken(coming)} in the output")


def _united_fields(standing: dict[str, Any], coming: dict[str, Any], name: str) -> list[dict[str, Any]]:
    fields: dict[str, dict[str, Any]] = {
        field["name"].lower(): {**field, "nullable": True} for field in standing["fields"]
    }
    for field in cast(list[dict[str, Any]], coming["fields"]):
        known = fields.get(field["name"].lower())
        inner = f"{name}.{field['name']}" if name else field["name"]
        fields[field["name"].lower()] = (
            {**field, "type": _optional(field["type"]), "nullable": True}
            if known is None
            else {**known, "type": _united(known["type"], field["type"], inner), "nullable": True}
        )
    return list(fields.values())


def _optional(kind: Type) -> Type:
    """The type with nothing in it that must have a value: a later publish may leave it out."""
    return _united(kind, kind, "")


def _spoken(kind: Type) -> str:
    return kind if isinstance(kind, str) else str(kind["type"])
