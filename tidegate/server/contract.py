"""What a route says of itself in `/openapi.json`, from the structs that it takes and returns.

FastAPI would read bodies and shape answers by pydantic's models. Here bodies are decoded by `server.body`,
with its own refusals, and answers are encoded from the values of the engine; the schemas of both come from
msgspec.
"""

import inspect
import re
from http import HTTPStatus
from typing import Any

import msgspec
import msgspec.inspect as inspected
from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi

from tidegate.domain.value import Value
from tidegate.server.problem import MEDIA_TYPE

ATTRIBUTE = re.compile(r"^ {4}(\w+(?:, \w+)*): (.+?)(?=^ {4}\w|\Z)", re.MULTILINE | re.DOTALL)
"""A field, or several, in the docstring of a struct, with what it says of them."""

REF = "#/components/schemas/{name}"
JSON = "application/json"

ANY_OBJECT: dict[str, Any] = {"type": "object"}
"""The schema of what has a language of its own, such as the specification of an app."""

_components: dict[str, Any] = {}


class Described(Value, kw_only=True):
    """The problem of an answer, as its schema."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = ""
    code: str = ""
    diagnostics: list[dict[str, Any]] = []


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a value of the engine, or builtin values, as JSON."""
    return Response(msgspec.json.encode(value), status, headers=headers, media_type=JSON)


def listed(items: list[Any], cursor: str | None) -> Response:
    """Return a page of a list."""
    return json_answer({"items": items, "next": cursor})


def page_of(item: type[Any]) -> type[Any]:
    """Return the type of a page of a list, named, so that clients made from the schema have it."""
    said = """A page of a list.

    Attributes:
        items: of the list, in its order.
        next: the cursor of the next page; null for the last one.
    """
    fields = [("items", list[item]), ("next", str | None)]
    return msgspec.defstruct(f"{item.__name__}Page", fields, namespace={"__doc__": said})


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the schema of a type; a schema as it is.

    Raises:
        ValueError: another type has the same name, so that a client would get the one for the other.
    """
    if isinstance(kind, dict):
        return kind
    (found,), components = msgspec.json.schema_components([kind], ref_template=REF)
    structs = _structs(inspected.type_info(kind), {})
    for name, schema in components.items():
        described = _with_descriptions(schema, structs.get(name))
        if _components.setdefault(name, described) != described:
            raise ValueError(f"two types of the API have the name {name}: rename one")
    return found


def _structs(info: Any, found: dict[str, type[Any]]) -> dict[str, type[Any]]:
    """Add all structs in the description of a type to those found, by name."""
    if isinstance(info, inspected.StructType):
        if info.cls.__name__ in found:
            return found
        found[info.cls.__name__] = info.cls
    members = info if isinstance(info, tuple) else (getattr(info, name) for name in info.__struct_fields__)
    for member in members:
        if isinstance(member, tuple | inspected.Type | inspected.Field):
            _structs(member, found)
    return found


def _with_descriptions(schema: dict[str, Any], kind: type[Any] | None) -> dict[str, Any]:
    """Return the schema of a struct whose fields have what its docstring, and those of its bases, say."""
    fields: dict[str, Any] = schema.get("properties", {})
    if kind is None or not fields:
        return schema
    found = dict[str, str]()
    for each in reversed(kind.__mro__):
        _, _, of_fields = inspect.cleandoc(each.__doc__ or "").partition("\n\nAttributes:\n")
        for names, words in ATTRIBUTE.findall(of_fields):
            found |= dict.fromkeys(names.split(", "), " ".join(words.split()))
    names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    described = {
        name: {"description": found[names[name]], **field} if names[name] in found else field
        for name, field in fields.items()
    }
    said = inspect.cleandoc(kind.__doc__ or "").partition("\n\nAttributes:\n")[0]
    return {**schema, "description": said, "properties": described}


def contract(
    answers: Any,
    *,
    status: int = 200,
    body: Any = None,
    example: Any = None,
    optional: bool = False,
    errors: tuple[int, ...] = (),
    also: dict[int, Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments of a route that describe it.

    Args:
        answers: type or schema of the answer; None for one without a body.
        body: type or schema of the body.
        example: of the body.
        optional: the body may be left out.
        errors: statuses of problems, beside those that every route has.
        also: further statuses with the type or schema of their answers.
    """
    responses: dict[int | str, Any] = {
        code: {"description": HTTPStatus(code).phrase}
        | ({} if kind is None else {"content": {JSON: {"schema": schema_of(kind)}}})
        for code, kind in {status: answers, **(also or {})}.items()
    }
    of_body = () if body is None else (400, 408, 413, 415)
    for code in sorted({400, 401, 403, 404, 429, 503, *errors, *of_body} - responses.keys()):
        responses[code] = {
            "description": HTTPStatus(code).phrase,
            "content": {MEDIA_TYPE: {"schema": schema_of(Described)}},
        }
    found: dict[str, Any] = {"status_code": status, "responses": responses, "response_class": Response}
    if body is not None:
        media: dict[str, Any] = {"schema": schema_of(body)}
        if example is not None:
            media["example"] = example
        content = {"required": not optional, "content": {JSON: media}}
        found["openapi_extra"] = {"requestBody": content}
    return found


def describe(application: FastAPI) -> None:
    """Let `/openapi.json` have the schemas of the structs, the kind of tokens, and no answer 422."""

    def document() -> dict[str, Any]:
        if application.openapi_schema is None:
            application.openapi_schema = _document(application)
        return application.openapi_schema

    application.openapi = document


def _document(application: FastAPI) -> dict[str, Any]:
    found = get_openapi(
        title=application.title,
        version=application.version,
        description=application.description,
        routes=application.routes,
    )
    for methods in found["paths"].values():
        for operation in methods.values():
            operation["responses"].pop("422", None)
    components = found.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas.update(_components)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"token": []}, {}]
    return found
