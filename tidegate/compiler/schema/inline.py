"""The schema with its references replaced by their targets.

Looking up `$ref` takes a quarter of the validator's time on a large app. Beside a `$ref` our
schema has annotations only, so replacing one is a merge. A trigger contains triggers, so
the result contains itself: it can be descended into, but neither printed nor compared.
"""

from typing import Any, cast

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
