"""The parameters of a query: `:NAME` of `args`, and those that every run has.

A value is bound by Spark and never becomes part of the text. A list is bound as an array, which has its place
in `array_contains(:days, day)`; in `IN (:days)` it would be compared as a whole.
"""

from collections.abc import Iterator
from typing import Any, Literal, cast

Kind = Literal["text", "instant", "number", "list"]

OF_EVERY_RUN: dict[str, Kind] = {
    "key": "text",
    "now": "instant",
    "scheduled_time": "instant",
    "business_date": "text",
    "first_event_time": "instant",
    "last_event_time": "instant",
    "schedule": "text",
    "job": "text",
    "attempt": "number",
    "partitions": "list",
}
"""The parameters that every run has, by name. No arg may have one of these names."""


def in_list_hint(name: str) -> str:
    """Return what to write in place of `IN (:NAME)` for a list."""
    return f"write array_contains(:{name}, COLUMN)"


def wrong_values(args: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names of args that cannot be bound, with what they are."""
    for name, value in args.items():
        what = _wrong(value)
        if what:
            yield name, what


def _wrong(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    members = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    if any(isinstance(member, dict | list | tuple) for member in members):
        return "a list of lists or mappings"
    if any(member is None for member in members):
        return "a list with null"
    kinds = {_kind(member) for member in members}
    return "a list of several types" if len(kinds) > 1 else ""


def _kind(member: Any) -> str:
    if isinstance(member, bool):
        return "boolean"
    return "number" if isinstance(member, int | float) else "text"
