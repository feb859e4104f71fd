"""A trigger as the YAML of an app spells it, for people who read a difference.

It starts from the canonical form (`compiler.fingerprint.canonical`), in which a trigger names its kind
and has every default, and leaves out what has its default.
"""

from collections.abc import Iterator
from datetime import time
from typing import Any, cast, get_args

import msgspec
import yaml

from tidegate.compiler.triggers.kind import Options
from tidegate.domain.model import Trigger
from tidegate.domain.size import size_text

MAX_LINES = 40
"""A longer trigger is cut: `--format json` has it whole."""

FLOW_CHARACTERS = 80
"""What is not longer is written on one line, as `{a: 1, b: 2}`."""

KIND = "kind"
NOT_WRITTEN = {"elapsed": ("program",)}
"""Fields that the compiler fills in from the schedule."""

OF_THE_APP = ("day_starts",)
"""Fields that the compiler fills in from the app. A difference shows them, the YAML of a trigger has none."""

_KINDS = {str(kind.__struct_config__.tag): kind for kind in get_args(Trigger)}


_BESIDE = tuple(option.removesuffix("_") for option in Options.__annotations__)


def yaml_lines(value: Any) -> list[str]:
    """The lines of YAML of a trigger, of a list of triggers, or of any other value in canonical form."""
    lines = list(_block(_written(value)))
    return lines if len(lines) <= MAX_LINES else [*lines[:MAX_LINES], "…"]


def _block(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            if _fits(member):
                yield f"{key}: {_flow(member)}"
            else:
                yield f"{key}:"
                yield from (f"  {line}" for line in _block(member))
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            first, *others = [_flow(item)] if _fits(item) else list(_block(item))
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
    else:
        yield _flow(value)


def _fits(value: Any) -> bool:
    return not isinstance(value, dict | list) or len(_flow(value)) <= FLOW_CHARACTERS


def _flow(value: Any) -> str:
    dumped = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=float("inf")
    )
    return dumped.removesuffix("\n").removesuffix("\n...")


def written_trigger(form: dict[str, Any]) -> dict[str, Any]:
    """Return a trigger in canonical form as it is written."""
    return _trigger(_without(form, OF_THE_APP))


def _without(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_without(item, names) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        form = cast("dict[str, Any]", value)
        return {name: _without(member, names) for name, member in form.items() if name not in names}
    return value


def _written(value: Any) -> Any:
    if isinstance(value, list):
        return [_written(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        form = cast("dict[str, Any]", value)
        return _trigger(form) if form.get(KIND) in _KINDS else form
    return value


def _trigger(form: dict[str, Any]) -> dict[str, Any]:
    kind = str(form[KIND])
    own = dict(_own(kind, form))
    beside = {key: own.pop(key) for key in _BESIDE if key in own}
    if kind in own:
        return {**own, **beside}
    return {kind: own["of"] if own.keys() == {"of"} else own, **beside}


def _canonical(default: Any) -> Any:
    """Return a default as the canonical form has it: a tuple is a list there, and a time a text."""
    if isinstance(default, time):
        return f"{default:%H:%M}"
    return list(cast("tuple[Any, ...]", default)) if isinstance(default, tuple) else default


def _own(kind: str, form: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a trigger that differ from their defaults, as they are written."""
    for field in msgspec.structs.fields(_KINDS[kind]):
        name = field.encode_name
        if name not in form or name in NOT_WRITTEN.get(kind, ()):
            continue
        value: Any = form[name]
        if value == _canonical(field.default):
            continue
        if name == "calendar":
            value = value["name"]
        elif name == "bytes":
            text = size_text(value)
            value = value if text.isdigit() else text
        yield name, _written(value)
