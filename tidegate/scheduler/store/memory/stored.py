"""Values as SQL gives them back, so that no caller sees which store it has."""

from typing import TypeVar

import msgspec

from tidegate.domain.value import Value

V = TypeVar("V", bound=Value)


def as_stored(value: V) -> V:
    """Return a value after a round trip through JSON: tuples in its plain data become lists."""
    return msgspec.json.decode(msgspec.json.encode(value), type=type(value))
