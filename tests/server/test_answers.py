"""`/openapi.json` names a type for each answer, so that a client that is made from it has them all."""

from collections.abc import Iterator
from typing import Any

from tidegate.server.application import assemble

ANY = ({}, {"type": "object"})


def answers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each operation with the schema of an answer of it in JSON that is not a problem."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                content = response.get("content", {}).get("application/json")
                if status.startswith("2") and content is not None:
                    yield f"{method.upper()} {path}", content.get("schema", {})


def is_any(schema: dict[str, Any]) -> bool:
    """Whether a schema is that of any object, or of a page of them."""
    items = schema.get("properties", {}).get("items", {}).get("items", schema)
    return schema in ANY or items in ANY


def test_no_operation_answers_with_any_object():
    found = list(answers(assemble().openapi()))
    assert len(found) > 60
    assert [operation for operation, schema in found if is_any(schema)] == []
