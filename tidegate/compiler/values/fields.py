"""Values whose fields are read as their types say: durations and sizes from texts, the rest as it is."""

from datetime import timedelta
from typing import Any, TypeVar

import msgspec

from tidegate.compiler.reader.node import MappingNode, Node, plain
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at, size_at
from tidegate.domain.model import At
from tidegate.domain.value import Value

V = TypeVar("V", bound=Value)


def read_value(kind: type[V], node: Node, scope: Scope, at: At | None = None, short: str = "") -> V | None:
    """Return what a node says of a kind of value; None for what the schema refuses, and after a report.

    Args:
        at: its place, for a kind that has one.
        short: the field that is meant by a node which is not a mapping.
    """
    types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    written = node.values if isinstance(node, MappingNode) else {short: node}
    fields = {name: _read(value, types[name], scope) for name, value in written.items() if name in types}
    if None in fields.values() or not fields:
        return None
    tag = kind.__struct_config__.tag
    try:
        return msgspec.convert({"kind": tag, **fields, "at": at}, kind)
    except msgspec.ValidationError:
        return None


def _read(node: Node, type_: Any, scope: Scope) -> object:
    if type_ in (timedelta, timedelta | None):
        return duration_at(node, scope)
    return size_at(node, scope) if type_ is int else plain(node)
