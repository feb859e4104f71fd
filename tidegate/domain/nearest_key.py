"""Wrong partition keys: what a person wrote, and the nearest key that exists.

    2026-13-05            ──► 2026-12-05          24.12.2026            ──► 2026-12-24
    2026-11-20T05:30      ──► 2026-11-20-05:00    2026-11-20|berlin     ──► berlin|2026-11-20, and the order
    before the first key  ──► the first key       nothing that is alike ──► an example

All who take a key from a person read it here, so that each of them answers a wrong one alike. Whether the
period of the nearest key has begun is not asked: that is another answer.
"""

import json
import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.domain.partition_key import (
    SEPARATOR,
    PartitionKeyError,
    WrittenKey,
    first_key,
    format_time_key,
    join_key,
    parse_time_key,
    split_key,
    start_of,
    validate_key,
)
from tidegate.domain.suggest import closest
from tidegate.domain.time.wall_clock import first_instant, wall_time
from tidegate.domain.value import Value

MAX_READ_CHARACTERS = 200
"""A longer text is not a mistyped key."""

_OTHER_SEPARATORS = re.compile(r"[,;/]")
_NUMBER = re.compile(r"\d+", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})([./-])(\d{1,2})[./-](\d{4})(?!\d)", re.ASCII)
_LARGEST = (9999, 12, 31, 23, 59)
_SMALLEST = (1, 1, 1, 0, 0)


class WrongKey(Value):
    """A key that a scheme does not have.

    Attributes:
        summary: what is wrong with it.
        hint: what to write.
    """

    summary: str
    hint: str


def read_key(scheme: PartitionScheme, written: WrittenKey, example: str = "") -> str | WrongKey:
    """Return the text of a key of a scheme, which a person wrote as a text or as a mapping of dimensions.

    Args:
        example: a key for the hint where none is near; the first one by default.
    """
    try:
        key = written if isinstance(written, str) else join_key(scheme, written)
        wrong = validate_key(scheme, key)
    except PartitionKeyError as error:
        key, wrong = "", str(error)
    except OverflowError:
        key, wrong = "", f"a key is in the years 1 to 9999, got {_spelled(written)}"
    return key if wrong is None else WrongKey(summary=wrong, hint=key_hint(scheme, written, example))


def key_hint(scheme: PartitionScheme, written: WrittenKey = "", example: str = "") -> str:
    """Return what to write instead of a wrong key, or of none: the nearest key, else an example."""
    names = scheme.dimension_names()
    parts, positions = _read_parts(scheme, written)
    key = join_key(scheme, {**split_key(scheme, example or first_key(scheme)), **parts})
    shown = _spelled(key if isinstance(written, str) else split_key(scheme, key))
    if len(parts) < len(names):
        hint = f"write for example {shown}"
    elif positions == sorted(positions):
        return f"write {shown}, the nearest key"
    else:
        hint = f"write {shown}"
    in_order = len(names) > 1 and isinstance(written, str)
    return f"{hint}: {' comes first, then '.join(names)}" if in_order else hint


def _spelled(written: WrittenKey) -> str:
    """Return a key as people write it: a text in quotes, or a mapping in the JSON that YAML reads, too."""
    return f'"{written:.100}"' if isinstance(written, str) else json.dumps(written, ensure_ascii=False)[:200]


def _read_parts(scheme: PartitionScheme, written: WrittenKey) -> tuple[dict[str, str], list[int]]:
    """Return the nearest part of each dimension that can be read, and where each was found.

    A part is found by the name before it, as in a folder (`day=2026-03-09`), else by what it looks like.
    """
    found: dict[str, tuple[str, int]] = {}
    for position, (name, text) in enumerate(_pieces(scheme, written)):
        for dimension in scheme.dimension_names():
            if dimension in found or (name in scheme.dimension_names() and name != dimension):
                continue
            part = _nearest_part(scheme, dimension, text)
            if part is not None:
                found[dimension] = (part, position)
                break
    in_order = [found[name] for name in scheme.dimension_names() if name in found]
    positions = [position for _, position in in_order] if isinstance(written, str) else []
    return {name: part for name, (part, _) in found.items()}, positions


def _pieces(scheme: PartitionScheme, written: WrittenKey) -> list[tuple[str, str]]:
    """Return the pieces of a key, each with the name that is written to it, or ""."""
    if isinstance(written, Mapping):
        return list(written.items())
    text = written[:MAX_READ_CHARACTERS].strip()
    if len(scheme.dimension_names()) == 1:
        pieces = [text]
    else:
        pieces = text.split(SEPARATOR) if SEPARATOR in text else _OTHER_SEPARATORS.split(text)
    named = [piece.strip().partition("=") for piece in pieces]
    return [(before, after) if equals else ("", before) for before, equals, after in named]


def _nearest_part(scheme: PartitionScheme, dimension: str, text: str) -> str | None:
    """Return the part of a dimension that a text means; None if it looks like none."""
    if scheme.static is not None and scheme.static.name == dimension:
        return text if text in scheme.static.keys else closest(text, scheme.static.keys)
    time = scheme.time
    if time is None or (scheme.static is not None and text in scheme.static.keys):
        return None
    wall = wall_meant(text, time.timezone)
    try:
        return None if wall is None else _key_around(wall, time)
    except (PartitionKeyError, OverflowError):  # the latter at the end of the year 9999
        return None


def _key_around(wall: datetime, time: TimeDimension) -> str:
    key = format_time_key(max(first_instant(wall, time.timezone), start_of(time)), time)
    parse_time_key(key, time)
    return key


def wall_meant(text: str, zone: str | None = None) -> datetime | None:
    """Return the wall time that a text means; the parts that no calendar has are the nearest that it has.

    Args:
        zone: in which it is, if the text has an offset.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _wall_of_numbers(text)
    try:
        return wall_time(found, zone) if found.tzinfo and zone else found.replace(tzinfo=None)
    except OverflowError:
        return None


def _wall_of_numbers(text: str) -> datetime | None:
    """Return the wall time of a year with what follows, or of a date as Germans or Americans write it."""
    turned = _DAY_FIRST.search(text)
    if turned is not None:
        first, sign, second, year = turned.groups()
        day_second = (sign == "/" and int(first) <= 12) or int(second) > 12
        month, day = (first, second) if day_second else (second, first)
        text = f"{year}-{month}-{day} {text[turned.end() :]}"
    numbers = _NUMBER.findall(text)
    if not numbers or len(numbers[0]) != 4 or any(len(each) > 2 for each in numbers[1:5]):
        return None
    given = [int(each) for each in numbers[:5]] + list(_SMALLEST[len(numbers) :])
    year, month, day, hour, minute = (
        max(least, min(most, each)) for each, least, most in zip(given, _SMALLEST, _LARGEST, strict=True)
    )
    return datetime(year, month, min(day, monthrange(year, month)[1]), hour, minute)
