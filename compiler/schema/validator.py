"""The `jsonschema` validator for apps, built once and with two of its keywords replaced.

`pattern` is anchored as JSON Schema means it ("$" is the end, not the end or a line before
it), and `uniqueItems` compares hashes, since the library's own compares each pair: ten
thousand mappings in a hostile file would take minutes.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from compiler.schema import schema_text


@lru_cache(maxsize=1)
def app_validator() -> Any:
    """The validator of whole apps. Imported at the first use: that takes a fifth of a second."""
    from jsonschema import Draft202012Validator, validators

    extended: Any = cast("Any", validators).extend(
        Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique_items}
    )
    return extended(json.loads(schema_text()))


@lru_cache(maxsize=1)
def schedule_validator() -> Any:
    """The validator of one schedule, for specifications that come from elsewhere than an app's file."""
    schema = json.loads(schema_text())
    return app_validator().evolve(schema={"$ref": "#/$defs/schedule", "$defs": schema["$defs"]})


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern)


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique_items(_validator: Any, wanted: bool, instance: object, _schema: object) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if wanted and isinstance(instance, list) and repeated_members(cast("list[Any]", instance)):
        yield ValidationError("has members that are equal")


def repeated_members(members: list[Any]) -> list[int]:
    """The numbers of the members that stand earlier in the list too, counted from 0."""
    seen: set[str] = set()
    repeated: list[int] = []
    for index, member in enumerate(members):
        text = json.dumps(member, sort_keys=True)
        if text in seen:
            repeated.append(index)
        seen.add(text)
    return repeated
