"""Merges the columns of a table with those of an output: existing columns first, then new ones.

Columns are given as Spark's JSON, so that a table can be published without a
session. A column that a publish leaves out keeps its place and has no values in that
publish's files. Names are case-insensitive, as in Spark. Types become wider where no value
changes, as in Iceberg. Pure functions.
"""

import json
import re
from typing import Any, cast

from tidegate.domain.column_type import NO_TYPE, Type

_WIDER = (("byte", "short", "integer", "long"), ("float", "double"))
"""Types whose values the later ones of a row have too."""
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")


class ColumnClash(ValueError):
    """A column has one type in the table and another in the output.

    Attributes:
        column: its name, with those of the structs around it.
        existing, incoming: the two types.
    """

    def __init__(self, column: str, existing: str, incoming: str) -> None:
        super().__init__(f"{column} is {existing} in the table and {incoming} in the output")
        self.column, self.existing, self.incoming = column, existing, incoming


def union_columns(existing: str, incoming: str) -> str:
    """Return the columns of a table after a publish.

    Args:
        existing: columns of the table; "" for one that was never published.
        incoming: columns of the output.

    Raises:
        ColumnClash: the same column has two types, none of which has the values of both.
    """
    if not existing:
        return _text(_optional(json.loads(incoming)))
    if existing == incoming:
        return existing
    return _text(_union(json.loads(existing), json.loads(incoming), ""))


def columns_as_written(wanted: str, written: str) -> str:
    """Return the wanted columns with the narrower types, and the spelling, that files have which lack none.

    Files are read with these columns, and their values are then cast: Spark does not read a wider type.

    Args:
        wanted: a union of `written` with other columns.
    """
    return _text(_as_written(json.loads(wanted), json.loads(written)))


def are_read_as(wanted: str, written: str) -> bool:
    """Return whether files can be read with the wanted columns: each that they have is of that type."""
    as_written = columns_as_written(wanted, written)
    return as_written.lower() == _text(json.loads(wanted)).lower()


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
    wider = _wider(existing, incoming)
    if wider is None:
        raise ColumnClash(name, label(existing), label(incoming))
    return wider


def _wider(one: Type, other: Type) -> Type | None:
    """Return the one of two types, if any, that has the values of both."""
    if one == other or other == NO_TYPE:
        return one
    if one == NO_TYPE:
        return other
    if not isinstance(one, str) or not isinstance(other, str):
        return None
    for row in _WIDER:
        if one in row and other in row:
            return max(one, other, key=row.index)
    mine, theirs = _DECIMAL.fullmatch(one), _DECIMAL.fullmatch(other)
    if mine and theirs and mine[2] == theirs[2]:
        return max(one, other, key=lambda kind: int(kind[len("decimal(") :].partition(",")[0]))
    return None


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


def _as_written(wanted: Type, written: Type) -> Type:
    if not isinstance(wanted, dict) or not isinstance(written, dict):
        return wanted if written == NO_TYPE else written
    match wanted["type"]:
        case "struct":
            there = {field["name"].lower(): field for field in written["fields"]}
            fields = [
                field
                if (own := there.get(field["name"].lower())) is None
                else {**field, "name": own["name"], "type": _as_written(field["type"], own["type"])}
                for field in wanted["fields"]
            ]
            return {**wanted, "fields": fields}
        case "array":
            return {**wanted, "elementType": _as_written(wanted["elementType"], written["elementType"])}
        case "map":
            key = _as_written(wanted["keyType"], written["keyType"])
            return {
                **wanted,
                "keyType": key,
                "valueType": _as_written(wanted["valueType"], written["valueType"]),
            }
        case _:
            return written


def _optional(kind: Type) -> Type:
    """Return the type with every part nullable: a later publish may leave it out."""
    return _union(kind, kind, "")


def label(kind: Type) -> str:
    """Return a type as messages name it."""
    return kind if isinstance(kind, str) else str(kind["type"])
