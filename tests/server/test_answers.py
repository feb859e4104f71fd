"""A client that is made from `/openapi.json` has a type for each answer, with a line on each field."""

import json
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, get_args, get_origin

import pytest
from datamodel_code_generator import DataModelType, InputFileType, PythonVersion, generate
from datamodel_code_generator.format import Formatter
from pydantic import BaseModel

from tidegate.listings.schedules import KEYS, WORDS
from tidegate.server.application import assemble

TEXTS = {
    *(f"{kind}.{key}" for kind in ("Schedule", "ListedSchedule") for key in KEYS if key not in WORDS),
    *("CycleTask.at", "DeployedSpec.spec", "RevertsTo.specification"),
    *("OverriddenField.deployed", "OverriddenField.override", "FieldChange.old", "FieldChange.new"),
    *("ThreeViews.git", "ThreeViews.deployed", "ThreeViews.override"),
}
"""Fields that have keys of the YAML or their values."""

OTHERS = {
    "At.root",  # file, line and column
    "JournalLine.data",  # by the kind of the entry
    "Launch.args",
    "UpstreamRun.args",  # of programs, any JSON
    "OperationRun.results",  # by the operation
    *("OpenApi.info", "OpenApi.paths", "OpenApi.components"),  # as the OpenAPI Specification has them
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return assemble().openapi()


@pytest.fixture(scope="module")
def client(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The types of a client, as a generator makes them from the document."""
    file = tmp_path_factory.mktemp("client") / "tidegate_client.py"
    generate(
        json.dumps(document),
        input_file_type=InputFileType.OpenAPI,
        output=file,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        formatters=[Formatter.BUILTIN],
    )
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[file.stem] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[file.stem]


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


def parts_of(annotation: Any) -> Iterator[Any]:
    """A type and the types in it, but for the keys of mappings."""
    yield annotation
    for part in get_args(annotation)[1 if get_origin(annotation) is dict else 0 :]:
        yield from parts_of(part)


def models_of(kinds: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """These types and all types of their fields."""
    found, left = set[type[BaseModel]](), list(kinds)
    while left:
        kind = left.pop()
        if kind not in found:
            found.add(kind)
            annotations = [field.annotation for field in kind.model_fields.values()]
            left += [part for each in annotations for part in parts_of(each) if is_model(part)]
    return found


def is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def test_each_answer_has_a_type_with_fields(document: dict[str, Any], client: ModuleType):
    found = {operation: name_of(schema) for operation, schema in answers(document)}
    assert len(found) > 60
    assert [operation for operation, name in found.items() if not name] == []
    assert [name for name in found.values() if not getattr(client, name).model_fields] == []


def test_no_field_is_any_object_but_for_texts_of_the_language(document: dict[str, Any], client: ModuleType):
    answered: set[type[BaseModel]] = {getattr(client, name_of(schema)) for _, schema in answers(document)}
    untyped = {
        f"{kind.__name__}.{name}"
        for kind in models_of(answered)
        for name, field in kind.model_fields.items()
        if Any in parts_of(field.annotation)
    }
    assert untyped == TEXTS | OTHERS


def test_every_field_is_described(document: dict[str, Any], client: ModuleType):
    answered: set[type[BaseModel]] = {getattr(client, name_of(schema)) for _, schema in answers(document)}
    names = {kind.__name__ for kind in models_of(answered)}
    assert [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        if name in names
        for field, of in schema.get("properties", {}).items()
        if not of.get("description")
    ] == []
