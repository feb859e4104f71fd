"""Whether a value fits a schema, without saying where it does not.

Most files have no mistake. For these the answer comes from here: the library needs longer to be imported than
all else that `tidegate lint` does with one file, and ten times as long to look at a large one. It describes
the errors of what does not fit. A keyword or a comparison that is not known here decides nothing: the value
then goes to the library as well.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tidegate.compiler.schema.validator import compiled, repeated_members

Schema = Mapping[str, Any]

NOTES = {"title", "description", "examples", "default", "defaultSnippets", "patternErrorMessage", "$schema"}
BESIDE = {"then", "else"}
"""Keywords that `if` looks at."""


class _UnknownError(Exception):
    """Only the library can say whether a value fits."""


def fits(schema: Schema, value: object) -> bool:
    """Return whether a value surely fits a schema whose references are replaced."""
    try:
        return _fits(schema, value)
    except _UnknownError:
        return False


def _fits(schema: Schema, value: Any) -> bool:
    for keyword, wanted in schema.items():
        if keyword in NOTES or keyword in BESIDE:
            continue
        holds = _KEYWORDS.get(keyword)
        if holds is None:
            raise _UnknownError(keyword)
        if not holds(value, wanted, schema):
            return False
    return True


# They do not narrow the type of a value: what is inside is as little known.


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[object], bool]] = {
    "string": _is_text,
    "object": _is_object,
    "array": _is_list,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "null": lambda value: value is None,
}


def _type(value: Any, wanted: str | list[str], _schema: Schema) -> bool:
    return any(_TYPES[name](value) for name in ((wanted,) if isinstance(wanted, str) else wanted))


def _same(value: Any, other: Any) -> bool:
    """Return whether two values are equal; 1, 1.0 and true, alone or in lists, are left to the library."""
    if type(value) is type(other) and not isinstance(value, dict | list):
        return bool(value == other)
    if value == other:
        raise _UnknownError(f"{value!r} and {other!r}")
    return False


def _properties(value: Any, wanted: Mapping[str, Schema], _schema: Schema) -> bool:
    return not _is_object(value) or all(
        _fits(wanted[key], member) for key, member in value.items() if key in wanted
    )


def _additional(value: Any, wanted: Schema | bool, schema: Schema) -> bool:
    if not _is_object(value):
        return True
    known = schema.get("properties", {})
    if isinstance(wanted, bool):
        return wanted or all(key in known for key in value)
    return all(_fits(wanted, member) for key, member in value.items() if key not in known)


def _one_of(value: Any, wanted: list[Schema], _schema: Schema) -> bool:
    kinds = wanted
    if _is_object(value):
        kinds = [kind for kind in wanted if value.keys() >= set(kind.get("required", ()))]
    return sum(_fits(kind, value) for kind in kinds) == 1


def _if(value: Any, wanted: Schema, schema: Schema) -> bool:
    branch = schema.get("then" if _fits(wanted, value) else "else")
    return branch is None or _fits(branch, value)


def _dependent_required(value: Any, wanted: Mapping[str, list[str]], _schema: Schema) -> bool:
    return not _is_object(value) or all(
        needed in value for key, names in wanted.items() if key in value for needed in names
    )


def _dependent_schemas(value: Any, wanted: Mapping[str, Schema], _schema: Schema) -> bool:
    return not _is_object(value) or all(_fits(inner, value) for key, inner in wanted.items() if key in value)


_KEYWORDS: dict[str, Callable[[Any, Any, Schema], bool]] = {
    "type": _type,
    "enum": lambda value, wanted, _: any(_same(value, each) for each in wanted),
    "const": lambda value, wanted, _: _same(value, wanted),
    "properties": _properties,
    "additionalProperties": _additional,
    "required": lambda value, wanted, _: not _is_object(value) or all(key in value for key in wanted),
    "propertyNames": lambda value, wanted, _: (
        not _is_object(value) or all(_fits(wanted, key) for key in value)
    ),
    "minProperties": lambda value, wanted, _: not _is_object(value) or len(value) >= wanted,
    "maxProperties": lambda value, wanted, _: not _is_object(value) or len(value) <= wanted,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "items": lambda value, wanted, schema: (
        not _is_list(value) or all(_fits(wanted, each) for each in value[: schema.get("maxItems")])
    ),
    "minItems": lambda value, wanted, _: not _is_list(value) or len(value) >= wanted,
    "maxItems": lambda value, wanted, _: not _is_list(value) or len(value) <= wanted,
    "uniqueItems": lambda value, wanted, schema: (
        not wanted or not _is_list(value) or not repeated_members(value[: schema.get("maxItems")])
    ),
    "minLength": lambda value, wanted, _: not _is_text(value) or len(value) >= wanted,
    "maxLength": lambda value, wanted, _: not _is_text(value) or len(value) <= wanted,
    "pattern": lambda value, wanted, _: not _is_text(value) or bool(compiled(wanted).search(value)),
    "minimum": lambda value, wanted, _: not _is_number(value) or not value < wanted,
    "maximum": lambda value, wanted, _: not _is_number(value) or not value > wanted,
    "oneOf": _one_of,
    "anyOf": lambda value, wanted, _: any(_fits(each, value) for each in wanted),
    "not": lambda value, wanted, _: not _fits(wanted, value),
    "if": _if,
}
