"""Numbers with a point or an exponent that are whole: `7.0`, `1e3`, `1.5e1`.

YAML and JSON make floats of them. Where the schema wants a number they become integers, so that all that
reads the tree sees one spelling. Elsewhere, as in arguments of programs, a value stays as it was written.
The validator takes no float for an integer: what is not whole is an error with its value.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.compiler.reader.scalar import MAX_INTEGER_DIGITS

_SAME_PLACE = ("if", "then", "else")
_LISTS_OF_SAME_PLACE = ("oneOf", "anyOf", "allOf")

Schemas = tuple[dict[str, Any], ...]
"""All schemas that a value has to fit, those of other branches included."""


def whole_numbers(root: MappingNode, schema: dict[str, Any]) -> MappingNode:
    """Return a tree whose whole numbers are integers where the schema wants a number."""
    if not _has_whole_float(root):
        return root
    found = _replaced(root, tuple(_branches(schema)))
    return found if isinstance(found, MappingNode) else root


def _has_whole_float(node: Node) -> bool:
    if isinstance(node, ScalarNode):
        return _is_whole_float(node)
    members = node.values.values() if isinstance(node, MappingNode) else node.items
    return any(_has_whole_float(member) for member in members)


def _is_whole_float(node: ScalarNode) -> bool:
    value = node.value
    return isinstance(value, float) and value.is_integer() and abs(value) < 10**MAX_INTEGER_DIGITS


def _replaced(node: Node, schemas: Schemas) -> Node:
    if not schemas or not _has_whole_float(node):
        return node
    if isinstance(node, MappingNode):
        values = {key: _replaced(value, _of_key(schemas, key)) for key, value in node.values.items()}
        return msgspec.structs.replace(node, values=values)
    if isinstance(node, SequenceNode):
        inner = tuple(_all_branches(schema.get("items") for schema in schemas))
        return msgspec.structs.replace(node, items=tuple(_replaced(item, inner) for item in node.items))
    if any(_wants_number(schema) for schema in schemas) and isinstance(node.value, float):
        return msgspec.structs.replace(node, value=int(node.value))
    return node


def _wants_number(schema: dict[str, Any]) -> bool:
    types = schema.get("type", ())
    return bool({"integer", "number"} & ({types} if isinstance(types, str) else set(types)))


def _of_key(schemas: Schemas, key: str) -> Schemas:
    return tuple(
        _all_branches(
            schema.get("properties", {}).get(key, schema.get("additionalProperties")) for schema in schemas
        )
    )


def _all_branches(schemas: Iterator[Any]) -> Iterator[dict[str, Any]]:
    for schema in schemas:
        if isinstance(schema, dict):
            yield from _branches(cast("dict[str, Any]", schema))


def _branches(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and those that it applies to the same value."""
    yield schema
    same = [schema[key] for key in _SAME_PLACE if key in schema]
    same += [member for key in _LISTS_OF_SAME_PLACE for member in schema.get(key, ())]
    yield from _all_branches(iter([*same, *schema.get("dependentSchemas", {}).values()]))
