"""Fingerprints, by which parts of an app are compared independently of file and line.

A fingerprint is the SHA-256 of a canonical form without places (`at`) and without a schedule's initial
`status`, which is never a difference (rule 23), nor are former names and the written text. Fields with their
default value are left out, so that a new field of the model does not change stored fingerprints. `args`
belong to the user: an "at" in them counts.
"""

import hashlib
from datetime import date, time, timedelta
from enum import Enum
from functools import lru_cache
from typing import Any, cast

import msgspec

from tidegate.domain.duration import duration_text
from tidegate.domain.model import NEVER, App, Dataset, Program, Schedule
from tidegate.domain.value import Value

DIGEST_BYTES = 16

_LEFT_OUT: dict[type[Value], tuple[str, ...]] = {
    Schedule: ("status", "written", "renamed_from"),
    App: ("renamed_from", "written"),
    Program: ("renamed_from",),
    Dataset: ("renamed_from", "stored_as"),
}


def fingerprint(value: Value) -> str:
    """Return the fingerprint of an app, dataset, program or schedule, metadata included."""
    return hashlib.sha256(msgspec.json.encode(canonical(value), order="sorted")).hexdigest()


def content_digest(app: App) -> str:
    """Return a digest of all that an app is, places and written text included; "" if it has none.

    Apps with the same digest are equal. All fields of the model are in it, so it differs with their names.
    In which order schedules are written does not count.
    """
    schedules = [app.schedules[name] for name in sorted(app.schedules)]
    try:
        content = msgspec.msgpack.encode((msgspec.structs.replace(app, schedules={}), schedules))
    except (OverflowError, TypeError, ValueError):
        # A number that has no bytes, or the half of a character.
        return ""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


def canonical(value: Value, *, defaults: bool = False) -> dict[str, Any]:
    """Return a value of the model as builtins without places and status; durations and times as in the YAML.

    Tagged structs (triggers and constraints) keep their `kind`.

    Args:
        defaults: whether to include fields that have their default value.
    """
    form: dict[str, Any] = {}
    config = value.__struct_config__
    if config.tag is not None:
        form[str(config.tag_field)] = config.tag
    for name, key, default in _fields(type(value)):
        member = _canonical(getattr(value, name), defaults)
        if defaults or member != default:
            form[key] = member
    return form


def _canonical(value: Any, defaults: bool) -> Any:
    if isinstance(value, Value):
        return canonical(value, defaults=defaults)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {str(key): _canonical(member, defaults) for key, member in members.items()}
    if isinstance(value, tuple | list):
        items = cast("list[Any]", value)
        return [_canonical(item, defaults) for item in items]
    if isinstance(value, timedelta):
        return "never" if value == NEVER else duration_text(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return f"{value:%H:%M}"
    return value


@lru_cache(maxsize=128)
def _fields(kind: type[Value]) -> tuple[tuple[str, str, Any], ...]:
    """Return for each field that counts its name, its JSON name, and its default in canonical form."""
    left_out = ("at", *_LEFT_OUT.get(kind, ()))
    found: list[tuple[str, str, Any]] = []
    for field in msgspec.structs.fields(kind):
        if field.name in left_out:
            continue
        default: Any = _NO_DEFAULT
        if field.default is not msgspec.NODEFAULT:
            default = _canonical(field.default, False)
        elif field.default_factory is not msgspec.NODEFAULT:
            default = _canonical(field.default_factory(), False)
        found.append((field.name, field.encode_name, default))
    return tuple(found)


_NO_DEFAULT = object()
"""Equal to no canonical value, so a field without a default always counts."""
