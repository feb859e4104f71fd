"""Bodies of requests: JSON in UTF-8, and the forms of the board, within a limit.

malformed JSON, or not of the wanted form   400
longer than `BYTES_MAX`                     413
not whole within `BODY_SECONDS`             408
another content type                        415
"""

import asyncio
import re
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec
from fastapi import Request
from starlette.requests import ClientDisconnect

from tidegate.domain.wording import shown
from tidegate.server.nul import refuse_nul
from tidegate.server.problem import Problem

BYTES_MAX = 5_000_000
"""5 MB."""

BODY_SECONDS = 30.0
"""From the header to the end of the body, which takes a moment also on a slow line."""

JSON = "application/json"
ESCAPED_NUL = rb"\u0000"
"""How JSON writes the character."""

FORM = "application/x-www-form-urlencoded"

_STEP = re.compile(r"\.[^.\[`]+|\[\d+\]")
"""One step of the path in an error of msgspec: `.rows` or `[3]`."""

T = TypeVar("T")


async def read_json(request: Request) -> Any:
    """Return the body as builtin values; None for an empty one.

    Raises:
        Problem: see the module.
    """
    content = await _read(request)
    if not content:
        return None
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if kind.strip().lower() != JSON or charset not in ("", "utf-8", "utf8"):
        raise Problem(
            415, f"a body is {JSON} in UTF-8, got {request.headers.get('content-type', 'no type')!r}"
        )
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"the body is not JSON: {error}") from error
    if ESCAPED_NUL in content:
        refuse_nul(found)
    return found


async def read_object(request: Request) -> dict[str, Any]:
    """Return the body, which is an object.

    Raises:
        Problem: see the module.
    """
    found = await read_json(request)
    if not isinstance(found, dict):
        raise Problem(400, f"the body must be an object, got {_kind(found)}")
    return found


async def read_optional(request: Request) -> dict[str, Any]:
    """Return the body, which is an object or left out.

    Raises:
        Problem: see the module.
    """
    found = await read_json(request)
    if found is not None and not isinstance(found, dict):
        raise Problem(400, f"the body must be an object, got {_kind(found)}")
    return found or {}


async def read_list(request: Request) -> list[Any]:
    """Return the body, which is a list.

    Raises:
        Problem: see the module.
    """
    found = await read_json(request)
    if not isinstance(found, list):
        raise Problem(400, f"the body must be a list, got {_kind(found)}")
    return found


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form of the board, the last of each name.

    Raises:
        Problem: 400, 413, or 415 for another content type than that of forms.
    """
    content = await _read(request)
    kind = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
    if kind != FORM:
        raise Problem(415, f"a form is {FORM}, got {kind:.100}")
    found = dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
    refuse_nul(found)
    return found


def as_form(value: Any, form: type[T]) -> T:
    """Return a body as a value of a struct. `7.0` and `1e3` are whole numbers, as in the YAML.

    Raises:
        Problem: 400, it does not fit.
    """
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError:
        pass
    try:
        return msgspec.convert(_whole(value), form)
    except msgspec.ValidationError as error:
        raise Problem(400, f"the body does not fit: {error}{_got(value, str(error))}") from error


def _whole(value: Any) -> Any:
    """Return a value with integers in place of floats that are whole."""
    if isinstance(value, dict):
        return {key: _whole(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_whole(member) for member in cast("list[Any]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _got(value: Any, error: str) -> str:
    """Return what does not fit, which the error names by its path, as the end of a sentence."""
    for step in _STEP.findall(error.rpartition("`$")[2]):
        try:
            value = value[int(step[1:-1]) if step.startswith("[") else step[1:]]
        except (LookupError, TypeError, ValueError):
            return ""
    return f", got {shown(value)}" if isinstance(value, bool | int | float | str) else ""


async def _read(request: Request) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > BYTES_MAX:
        raise _too_long()
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > BYTES_MAX:
                    raise _too_long()
                parts.append(part)
    except TimeoutError as error:
        raise Problem(408, f"the body did not come within {BODY_SECONDS:.0f} s") from error
    except ClientDisconnect as error:
        raise Problem(400, "the caller has gone before the end of the body") from error
    return b"".join(parts)


def _too_long() -> Problem:
    return Problem(413, f"a body has at most {BYTES_MAX:,} bytes")


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "an object")
