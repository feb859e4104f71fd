"""The schema of apps, and its `jsonschema` validator, built once and with four of its keywords replaced.

`pattern` is anchored as JSON Schema means it ("$" is the end, not the end or a line before
it). `items` stops at `maxItems`, and `uniqueItems` compares hashes where the library compares
each pair: a hostile list of ten thousand mappings must not take minutes. `oneOf` looks first at
the keys that the kinds require: the library describes the errors of every other kind, for nothing.
An integer is never a float, since no builder reads one: `schema.whole_numbers` has made integers of `7.0`.

The schema with its references replaced by their targets. Looking up `$ref` takes a quarter of the
validator's time on a large app. Beside a `$ref` our schema has annotations only, so replacing one is a
merge. A trigger contains triggers, so the result contains itself: it can be descended into, but neither
printed nor compared.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from tidegate.compiler.schema import schema_text

_NOT_CHECKED = ("description", "default", "defaultSnippets", "$schema")
"""Annotations that neither the validator nor the wording of its errors looks at."""

_DEFINITION = "#/$defs/"


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the same schema without `$ref` and `$defs`, and without annotations for readers."""
    return _Inliner(schema["$defs"]).of({key: schema[key] for key in schema if key != "$defs"})


class _Inliner:
    def __init__(self, definitions: dict[str, dict[str, Any]]) -> None:
        self._definitions = definitions
        self._done: dict[str, dict[str, Any]] = {}

    def of(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return [self.of(member) for member in cast("list[Any]", schema)]
        if not isinstance(schema, dict):
            return schema
        parts = cast("dict[str, Any]", schema)
        reference = parts.get("$ref")
        if not isinstance(reference, str):
            return self._members(parts)
        target = self._definition(reference.removeprefix(_DEFINITION))
        beside = self._members({key: parts[key] for key in parts if key != "$ref"})
        # Without other keywords the same object is used, which closes the cycle of triggers.
        return {**target, **beside} if beside else target

    def _definition(self, name: str) -> dict[str, Any]:
        if name not in self._done:
            self._done[name] = {}
            self._done[name].update(self._members(self._definitions[name]))
        return self._done[name]

    def _members(self, parts: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords of a schema; names under `properties` are not keywords and are all kept."""
        found: dict[str, Any] = {}
        for key, value in parts.items():
            if key == "properties":
                found[key] = {name: self.of(inner) for name, inner in value.items()}
            elif key == "examples":
                found[key] = value
            elif key not in _NOT_CHECKED:
                found[key] = self.of(value)
        return found


@lru_cache(maxsize=1)
def app_schema() -> dict[str, Any]:
    """Return the schema of whole apps, with its references replaced."""
    return inlined(json.loads(schema_text()))


def part_schema(section: str) -> dict[str, Any]:
    """Return the schema of one schedule, task or example, for a text outside an app's file."""
    parts: dict[str, Any] = app_schema()["properties"][section]
    return parts["items"] if section == "examples" else parts["additionalProperties"]


@lru_cache(maxsize=1)
def app_validator() -> Any:
    """Return the validator of whole apps. Imported at the first use: that takes a fifth of a second."""
    from jsonschema import Draft202012Validator, validators

    library: Any = Draft202012Validator
    extended: Any = cast("Any", validators).extend(
        library,
        {"pattern": _pattern, "items": _items, "uniqueItems": _unique_items, "oneOf": _one_of},
        type_checker=library.TYPE_CHECKER.redefine("integer", _is_integer),
    )
    return extended(app_schema())


def _is_integer(_checker: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@lru_cache(maxsize=64)
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern)


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not compiled(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _items(validator: Any, items: Any, instance: object, schema: dict[str, Any]) -> Iterator[Any]:
    if isinstance(instance, list):
        members = cast("list[Any]", instance)
        for index, member in enumerate(members[: schema.get("maxItems")]):
            yield from validator.descend(member, items, path=index)


def _one_of(validator: Any, kinds: Any, instance: object, schema: Any) -> Iterator[Any]:
    from jsonschema import Draft202012Validator

    if isinstance(instance, dict):
        keys = cast("dict[str, Any]", instance).keys()
        possible = [at for at, kind in enumerate(kinds) if keys >= set(kind.get("required", ()))]
        if len(possible) == 1:
            errors = validator.descend(instance, kinds[possible[0]])
            if next(iter(errors), None) is None:
                return
    library: Any = Draft202012Validator
    yield from library.VALIDATORS["oneOf"](validator, kinds, instance, schema)


def _unique_items(_validator: Any, wanted: bool, instance: object, schema: dict[str, Any]) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if not wanted or not isinstance(instance, list):
        return
    members = cast("list[Any]", instance)
    if repeated_members(members[: schema.get("maxItems")]):
        yield ValidationError("has members that are equal")


MAX_REPEATED_MEMBERS = 10
"""Ten repeated members are enough to show the mistake."""


def repeated_members(members: list[Any]) -> list[int]:
    """Return the indexes, from 0, of the first members that are equal to an earlier member."""
    seen: set[str] = set()
    repeated: list[int] = []
    for index, member in enumerate(members):
        text = json.dumps(member, sort_keys=True)
        if text in seen:
            repeated.append(index)
            if len(repeated) == MAX_REPEATED_MEMBERS:
                break
        seen.add(text)
    return repeated
