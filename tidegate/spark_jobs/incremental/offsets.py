"""What is new according to a source of the user's own, which counts its rows in offsets.

    newest(spark, params) -> {part: offset}            how far each part goes now
    read(spark, params, ranges) -> DataFrame           the rows after ranges[part].after, up to .upto

The module imports nothing of ours, like a program. What it must promise is that the rows of
a range never change; what can be checked of that is checked here: offsets of a part are all
whole numbers or all texts, and never fall. With no ranges `read` gives the columns alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.partition_key import validate_key
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.programs.program import load_source

Offset = int | str

MAX_OFFSET_CHARACTERS = 1_000
MAX_PARTS = 10_000
"""Each part that moves is one step of the commit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """The rows of a part that are new.

    Attributes:
        after: the offset of the last row that was read; None when the part is read for the first time.
        upto: the offset of the last row to be read.
    """

    after: Offset | None
    upto: Offset


def read_new_offsets(spark: SparkSession, asked: IncrementalRead, path: str) -> Increment:
    """The rows between the watermarks and the newest offsets, for the parts that are taken.

    Args:
        path: dotted path of the user's module.

    Raises:
        SourceError: the module gives something else than offsets, or they have fallen.
        ProgramError: there is no such module, or it lacks a function.
    """
    newest, read = load_source(path)
    ranges = new_ranges(path, newest(spark, asked.params), asked)
    frame = read(spark, asked.params, ranges)
    if not isinstance(frame, DataFrame) and (ranges or frame is not None):
        raise SourceError(
            f"{path}.read returned {type(frame).__name__}",
            "return one DataFrame; without ranges it has no rows, and may be None",
        )
    return Increment(frame=frame, positions={part: _encode(one.upto) for part, one in ranges.items()})


def new_ranges(path: str, newest: Any, asked: IncrementalRead) -> dict[str, Range]:
    """What is new of each part that is taken, given what the module's `newest` has returned.

    Raises:
        SourceError: see `read_new_offsets`.
    """
    ranges: dict[str, Range] = {}
    for part, offset in sorted(_newest_of(path, newest, asked).items()):
        after = _after(asked, part)
        if after is not None and type(after) is not type(offset):
            raise SourceError(
                f"{_spoken(path, part)} gives {offset!r} after {after!r}: one is a number, the other a text",
                "give offsets of one kind; to begin anew with the other: " + asked.remedy(part, ""),
            )
        if after is not None and cast(Any, offset) < after:
            raise SourceError(
                f"{_spoken(path, part)} has fallen from {after!r} to {offset!r}; an offset never falls",
                f"if {offset!r} is right: " + asked.remedy(part, _encode(offset)),
            )
        if offset != after:
            ranges[part] = Range(after=after, upto=offset)
    return ranges


def _newest_of(path: str, returned: Any, asked: IncrementalRead) -> dict[str, Offset]:
    """The offsets of the parts that are taken."""
    if not isinstance(returned, Mapping):
        raise SourceError(
            f"{path}.newest returned {type(returned).__name__}",
            'return the newest offset of each part, for example {"": 1200}',
        )
    given = cast(Mapping[Any, Any], returned)
    if len(given) > MAX_PARTS:
        raise SourceError(
            f"{path}.newest returned {len(given)} parts, at most {MAX_PARTS} are kept", "join parts into one"
        )
    found: dict[str, Offset] = {}
    for part, offset in given.items():
        if not isinstance(part, str):
            raise SourceError(f"{path}.newest returned the part {part!r}", "name parts by texts")
        if isinstance(offset, bool) or not isinstance(offset, int | str):
            raise SourceError(
                f"{_spoken(path, part)} gives the offset {offset!r}", "give whole numbers, or texts that sort"
            )
        if isinstance(offset, str) and not 0 < len(offset) <= MAX_OFFSET_CHARACTERS:
            raise SourceError(
                f"{_spoken(path, part)} gives an offset of {len(offset)} characters",
                f"give 1 to {MAX_OFFSET_CHARACTERS} characters, and leave a part without rows out",
            )
        fault = validate_key(asked.ref.scheme, part) if asked.ref.scheme is not None else None
        if fault is not None:
            raise SourceError(
                f"{path}.newest gives the part {part!r}, and {asked.ref.id} has no such partition: {fault}",
                "name the parts as the dataset's partitions, or declare it without partitions",
            )
        if asked.takes(part):
            found[part] = offset
    return found


def _after(asked: IncrementalRead, part: str) -> Offset | None:
    position = asked.positions.get(part)
    if position is None:
        return None
    try:
        return msgspec.json.decode(position, type=int | str)
    except msgspec.DecodeError as error:
        raise SourceError(
            f"{asked.watermark(part)} is no offset: {position}",
            "put it where the source stands, for example: " + asked.remedy(part, "1200"),
        ) from error


def _encode(offset: Offset) -> str:
    return msgspec.json.encode(offset).decode()


def _spoken(path: str, part: str) -> str:
    return f"{path}.newest, part {part!r}," if part else f"{path}.newest"
