"""`/openapi.json` names a type for each answer, with a line on each field."""

from collections.abc import Iterator
from typing import Any

import pytest

from tidegate.server.application import assemble


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return assemble().openapi()


def answers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each operation with the schema of an answer of it in JSON that is not a problem."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                content = response.get("content", {}).get("application/json")
                if status.startswith("2") and content is not None:
                    yield f"{method.upper()} {path}", content.get("schema", {})


def name_of(schema: dict[str, Any]) -> str:
    """The name of the type of an answer, or of the items of one that is a list; "" for none."""
    named = schema.get("items", schema) if schema.get("type") == "array" else schema
    return named.get("$ref", "").rpartition("/")[2]


def refs_in(schema: Any) -> Iterator[str]:
    """The names of all types in a schema."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        yield from (name for each in schema.values() for name in refs_in(each))
    elif isinstance(schema, list):
        yield from (name for each in schema for name in refs_in(each))


def test_each_answer_has_a_type_whose_fields_are_described(document: dict[str, Any]):
    found = {operation: name_of(schema) for operation, schema in answers(document)}
    assert len(found) > 60
    assert [operation for operation, name in found.items() if not name] == []
    types, seen, left = document["components"]["schemas"], set[str](), list(found.values())
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += refs_in(types[name])
    assert [
        f"{name}.{field}"
        for name in seen
        for field, schema in types[name].get("properties", {}).items()
        if not schema.get("description")
    ] == []
