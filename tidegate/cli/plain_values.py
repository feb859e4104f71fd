"""Values of the command line that are taken as they are: most words, and each default.

typer converts each value by pydantic, which takes a sixth of the time that a command needs to load. It is
asked for what remains: what is wrong, and kinds that are not in `plain_value`. A release of typer that
converts otherwise is left as it is.
"""

import os
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

import typer.core

DIGITS_MAX = 9
"""A longer number is compared by pydantic: it may have more digits than Python converts."""

CONVERTER = "build_runtime_param"
"""Name of the function by which typer makes what converts the values of a parameter; it is not public."""

UNKNOWN = object()
"""What `plain_value` returns for a value that it does not take."""


def take_plain_values() -> None:
    """Let typer convert by pydantic only where that is needed."""
    names: dict[str, Any] = typer.core.__dict__
    if CONVERTER in names:
        names[CONVERTER] = partial(_PlainFirst, names[CONVERTER])


class _PlainFirst:
    """What converts the values of a parameter: typer's own converter once it is needed."""

    def __init__(self, build: Callable[[Any], Any], wanted: Any) -> None:
        self._build = build
        self._wanted = wanted

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value that the command gets.

        Raises:
            BadParameter: it is not one of the parameter.
        """
        found = plain_value(value, self._wanted, several=param.multiple or param.nargs == -1)
        return self._build(self._wanted).coerce(value, param=param, ctx=ctx) if found is UNKNOWN else found


def plain_value(value: Any, wanted: Any, *, several: bool) -> Any:
    """Return a value as typer would; `UNKNOWN` for one that it must convert.

    Args:
        wanted: the type of the parameter, and what restricts it (typer's `TypeDescriptor`).
        several: the parameter is a list.
    """
    if value is None:
        return () if several else None
    if wanted.parameter_info.parser is not None:
        return UNKNOWN
    if not several:
        return _plain(value, wanted.annotation, wanted.parameter_info)
    if get_origin(wanted.annotation) is not list or not isinstance(value, list | tuple):
        return UNKNOWN
    (kind,) = get_args(wanted.annotation)
    found = [_plain(each, kind, wanted.parameter_info) for each in value]
    return UNKNOWN if any(each is UNKNOWN for each in found) else found


def _plain(value: Any, kind: Any, limits: Any) -> Any:
    if kind is str or kind is bool:
        return value if type(value) is kind else UNKNOWN
    if kind is int:
        return _number(value, limits)
    if kind is Path:
        return _path(value, limits)
    if isinstance(kind, type) and issubclass(kind, Enum):
        if isinstance(value, kind):
            return value
        return next((each for each in kind if each.value == value), UNKNOWN)
    return UNKNOWN


def _number(value: Any, limits: Any) -> Any:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS_MAX:
        value = int(value)
    if type(value) is not int:
        return UNKNOWN
    low, high = limits.min, limits.max
    return value if (low is None or low <= value) and (high is None or value <= high) else UNKNOWN


def _path(value: Any, limits: Any) -> Any:
    if not isinstance(value, str) or any(getattr(limits, name) for name in _OF_PATHS):
        return UNKNOWN
    fits = limits.file_okay and limits.dir_okay and os.access(value, os.R_OK)
    return Path(value) if fits or not os.path.lexists(value) else UNKNOWN


_OF_PATHS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")
"""What of a path typer is asked for."""
