"""The JSON Schema: a sound Draft 2020-12 schema that explains itself, and words for all its errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from tests.hostile.test_fuzz import APPS, VALUES
from tidegate.compiler import constraints, triggers
from tidegate.compiler.compile import compile_files
from tidegate.compiler.reader import plain, read
from tidegate.compiler.scenarios.actions import ACTIONS
from tidegate.compiler.scenarios.expectations import EXPECTATIONS
from tidegate.compiler.schema import schema_text
from tidegate.compiler.schema.check import MAX_SCHEMA_ERRORS
from tidegate.compiler.schema.fitting import _KEYWORDS, BESIDE, fits
from tidegate.compiler.schema.fitting import NOTES as NOT_CHECKED
from tidegate.compiler.schema.validator import app_schema, app_validator, inlined
from tidegate.compiler.schema.wording import _WORDS, LATER
from tidegate.scheduler.model.reason import Reason

SCHEMA: dict[str, Any] = json.loads(schema_text())
SCHEDULES = Path(__file__).parents[2] / "schedules"
GOLDEN = Path(__file__).parents[1] / "golden"
SILENT = {
    *("if", "then", "else", "properties", "items", "propertyNames", "dependentSchemas"),
    *("$ref", "$defs", "$schema"),
}
"""Keywords that apply others and yield no error of their own."""
NOTES = {"title", "description", "examples", "default", "defaultSnippets", "patternErrorMessage"}


def subschemas(schema: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema, with its place."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for key in ("properties", "dependentSchemas", "$defs"):
        for name, inner in schema.get(key, {}).items():
            yield from subschemas(inner, f"{path}/{key}/{name}")
    for key in ("items", "additionalProperties", "propertyNames", "then", "else"):
        yield from subschemas(schema.get(key), f"{path}/{key}")


def fields() -> list[tuple[str, dict[str, Any]]]:
    return [
        (path, s) for path, s in subschemas(SCHEMA) if path.split("/")[-2:-1] in (["properties"], ["$defs"])
    ]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return {**resolved(SCHEMA["$defs"][reference.rpartition("/")[2]]), **schema} if reference else schema


@given(VALUES | APPS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_the_validator_says_what_the_schema_says(value: Any) -> None:
    assert app_validator().is_valid(value) == Draft202012Validator(SCHEMA).is_valid(value)


@given(VALUES | APPS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_what_fits_has_no_error(value: Any) -> None:
    assert app_validator().is_valid(value) or not fits(app_schema(), value)


def test_files_fit_exactly_if_they_have_no_error() -> None:
    found: dict[bool, int] = {True: 0, False: 0}
    for file in (*GOLDEN.rglob("*.yaml"), *SCHEDULES.rglob("*.yaml")):
        root, _ = read(file.name, file.read_bytes())
        if root is not None:
            valid = app_validator().is_valid(plain(root))
            assert fits(app_schema(), plain(root)) == valid, file
            found[valid] += 1
    assert min(found.values()) > 20


@pytest.mark.parametrize(
    ("schema", "value", "fitting"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 7.0, False),
        ({"type": "number"}, 7, True),
        ({"type": ["string", "null"]}, None, True),
        ({"enum": ["a", 1]}, "a", True),
        ({"enum": [1]}, True, False),
        ({"enum": [1]}, 1.0, False),
        ({"not": {"enum": [1]}}, 1.0, False),
        ({"not": {"const": 1}}, 2, True),
        ({"format": "date"}, "x", False),
        ({"not": {"format": "date"}}, "x", False),
        ({"pattern": "^a$"}, "a\n", False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"c": 1}, True),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 2}, False),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, True),
        ({"uniqueItems": True}, [{"a": 1}, {"a": 1}], False),
        ({"minimum": 1}, float("nan"), True),
        ({"additionalProperties": {"type": "string"}, "properties": {"a": {}}}, {"a": 1, "b": 2}, False),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, False),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1, "b": 1}, True),
    ],
)
def test_what_is_not_surely_right_does_not_fit(schema: dict[str, Any], value: object, fitting: bool) -> None:
    assert fits(schema, value) is fitting


def test_all_keywords_of_the_schema_are_decided_without_the_library() -> None:
    used = {keyword for _, each in subschemas(SCHEMA) for keyword in each}
    assert used - {"$ref", "$defs"} <= _KEYWORDS.keys() | NOT_CHECKED | BESIDE


@pytest.mark.parametrize(
    ("trigger", "mistaken", "compared"),
    [
        ("{cron: '@daily'}", False, False),
        ("{any: [{cron: '@daily'}, {partitions: {dataset: d}}]}", False, False),
        ("{cron: 5}", True, False),
        ("{cron: '@daily', after: {schedule: s}}", True, False),
        ("{cron: '@daily', elapsed: 1h}", True, True),
        ("{any: [{cron: '@daily'}, {}]}", True, True),
        ("{}", True, True),
        ("5", True, True),
    ],
)
def test_kinds_are_compared_one_by_one_only_to_describe_a_mistake(
    trigger: str, mistaken: bool, compared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    ask = Draft202012Validator.VALIDATORS["oneOf"]

    def note(validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[Any]:
        asked.append(instance)
        yield from ask(validator, branches, instance, schema)

    text = f"app: a\nschedules:\n  s: {{program: p, trigger: {trigger}}}\n"
    root, _ = read("a.yaml", text.encode())
    assert root is not None
    expected = [error.message for error in Draft202012Validator(inlined(SCHEMA)).iter_errors(plain(root))]
    monkeypatch.setitem(Draft202012Validator.VALIDATORS, "oneOf", note)
    found = [error.message for error in app_validator().iter_errors(plain(root))]
    assert found == expected
    assert (bool(found), bool(asked)) == (mistaken, compared)


def test_it_is_a_sound_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "schema"), fields(), ids=lambda v: v if isinstance(v, str) else "")
def test_every_field_has_a_title_a_description_and_examples_that_are_valid(
    path: str, schema: dict[str, Any]
) -> None:
    whole = resolved(schema)
    assert whole.get("title"), path
    assert whole.get("description", "").endswith("."), path
    assert whole.get("examples"), path
    validator = Draft202012Validator({**schema, "$defs": SCHEMA["$defs"]})
    for example in whole["examples"]:
        assert validator.is_valid(example), f"{path}: {example}"


def test_every_keyword_of_the_schema_has_its_words() -> None:
    used = {key for _, schema in subschemas(SCHEMA) for key in schema}
    assert used - SILENT - NOTES <= set(_WORDS)


def test_every_mapping_refuses_unknown_keys() -> None:
    for path, schema in subschemas(SCHEMA):
        if "properties" in schema and "if" not in schema:
            assert schema.get("additionalProperties") is False, path


def test_the_registries_know_the_kinds_of_the_schema() -> None:
    def kinds(name: str) -> set[str]:
        return {branch["required"][0] for branch in SCHEMA["$defs"][name]["oneOf"]}

    assert set(triggers.KINDS) == kinds("trigger")
    assert set(constraints.KINDS) == kinds("constraint")


def test_the_readers_know_the_actions_and_expectations_of_the_schema() -> None:
    def kinds(name: str) -> set[str]:
        return {branch["required"][0] for branch in SCHEMA["$defs"][name]["oneOf"]}

    assert set(ACTIONS) == kinds("action")
    assert set(EXPECTATIONS) == kinds("expectation")


def test_an_expectation_names_the_reasons_that_there_are() -> None:
    assert SCHEMA["$defs"]["expectation"]["properties"]["reason"]["enum"] == [each.value for each in Reason]


def test_a_key_that_is_supported_is_no_longer_announced() -> None:
    by_title = {schema.get("title", "").partition(" ")[2]: schema for _, schema in subschemas(SCHEMA)}
    for place, keys in LATER.items():
        assert not set(keys) & set(by_title[place]["properties"]), place


@pytest.mark.parametrize("window", ["{from: x, to: y}", "{from: '10:00', to: '10:00'}"])
def test_where_more_is_wrong_than_is_looked_for_no_part_is_built(window: str) -> None:
    """The window is in the first lines, so that what is found of it would be shown."""

    def lines(mistakes: int) -> set[int]:
        schedule = f"z: {{program: p, trigger: {{cron: '@daily'}}, constraints: [{{window: {window}}}]}}"
        wrong = "".join(f"  w{n}: {{rum: x}}\n" for n in range(mistakes))
        text = f"app: a\nschedules:\n  {schedule}\nprograms:\n  p: {{run: j.p}}\n{wrong}"
        found = compile_files({"a.yaml": text.encode()})
        assert not found.ok
        return {each.at.line for each in found.diagnostics}

    assert 3 in lines(1)
    assert min(lines(MAX_SCHEMA_ERRORS)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(SCHEDULES.rglob("*.yaml")), ids=lambda f: f.name)
def test_an_editor_accepts_what_lint_accepts(file: Path) -> None:
    root, _ = read(file.name, file.read_bytes())
    assert root is not None
    assert Draft202012Validator(SCHEMA).is_valid(plain(root))
