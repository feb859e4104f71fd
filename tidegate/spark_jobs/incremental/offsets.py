"""New rows of a user-defined source, which numbers its rows by offsets.

    newest(spark, params) -> {part: offset}            the newest offset of each part
    read(spark, params, ranges) -> DataFrame           the rows after ranges[part].after, up to .upto

Like a program, the module does not import Tidegate. Its contract is that the rows of
a range never change. This module checks what it can: the offsets of a part are all
whole numbers or all texts, and never fall. Without ranges `read` returns only the columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.partition_key import validate_key
from tidegate.domain.wording import full_name
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.programs.loading import load_source
from tidegate.spark_jobs.programs.program import FRAME, call_program, conversion

Offset = int | str

MAX_OFFSET_CHARACTERS = 1_000
MAX_PARTS = 10_000
"""Each part that moves is one step of the commit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """The range of new rows of a part.

    Attributes:
        after: the offset of the last row that was read; None when the part was never read.
        upto: the offset of the last row to read.
    """

    after: Offset | None
    upto: Offset


def read_new_offsets(spark: SparkSession, request: IncrementalRead, path: str) -> Increment:
    """Return the rows between the watermarks and the newest offsets of the selected parts.

    Args:
        path: dotted path of the user's module.

    Raises:
        SourceError: the module does not return valid offsets, or they have fallen.
        ProgramError: the module does not exist, or lacks a function.
    """
    newest, read = load_source(path)
    ranges = new_ranges(path, call_program(f"{path}.newest", newest, spark, request.params), request)
    frame = call_program(f"{path}.read", read, spark, request.params, ranges)
    if not isinstance(frame, DataFrame) and (ranges or frame is not None):
        raise SourceError(
            f"{path}.read returned {full_name(frame)}",
            f"return one {FRAME}{conversion(frame)}; without ranges, one without rows or None",
        )
    return Increment(frame=frame, positions={part: _encode(one.upto) for part, one in ranges.items()})


def new_ranges(path: str, newest: Any, request: IncrementalRead) -> dict[str, Range]:
    """Return the new range of each selected part, given the result of the module's `newest`.

    Raises:
        SourceError: see `read_new_offsets`.
    """
    ranges: dict[str, Range] = {}
    for part, offset in sorted(_newest_of(path, newest, request).items()):
        after = _after(request, part)
        if after is not None and type(after) is not type(offset):
            raise SourceError(
                f"{_label(path, part)} gives {offset!r} after {after!r}: one is a number, the other a text",
                "give offsets of one kind; to begin again with the other: " + request.remedy(part, ""),
            )
        if after is not None and cast(Any, offset) < after:
            raise SourceError(
                f"{_label(path, part)} has fallen from {after!r} to {offset!r}; an offset never falls",
                f"if {offset!r} is right: " + request.remedy(part, _encode(offset)),
            )
        if offset != after:
            ranges[part] = Range(after=after, upto=offset)
    return ranges


def _newest_of(path: str, returned: Any, request: IncrementalRead) -> dict[str, Offset]:
    """Return the offsets of the selected parts."""
    if not isinstance(returned, Mapping):
        raise SourceError(
            f"{path}.newest returned {full_name(returned)}",
            'return the newest offset of each part, for example {"": 1200}',
        )
    given = cast(Mapping[Any, Any], returned)
    if len(given) > MAX_PARTS:
        raise SourceError(
            f"{path}.newest returned {len(given)} parts, at most {MAX_PARTS} are allowed", "combine parts"
        )
    found: dict[str, Offset] = {}
    for part, offset in given.items():
        if not isinstance(part, str):
            raise SourceError(f"{path}.newest returned the part {part!r}", "use texts as names of parts")
        if isinstance(offset, bool) or not isinstance(offset, int | str):
            raise SourceError(
                f"{_label(path, part)} gives the offset {offset!r}", "give whole numbers, or texts that sort"
            )
        if isinstance(offset, str) and not 0 < len(offset) <= MAX_OFFSET_CHARACTERS:
            raise SourceError(
                f"{_label(path, part)} gives an offset of {len(offset)} characters",
                f"give 1 to {MAX_OFFSET_CHARACTERS} characters, and leave a part without rows out",
            )
        fault = validate_key(request.ref.scheme, part) if request.ref.scheme is not None else None
        if fault is not None:
            raise SourceError(
                f"{path}.newest gives the part {part!r}, and {request.ref.id} has no such partition: {fault}",
                "name the parts like the dataset's partitions, or declare it without partitions",
            )
        if request.selects(part):
            found[part] = offset
    return found


def _after(request: IncrementalRead, part: str) -> Offset | None:
    position = request.positions.get(part)
    if position is None:
        return None
    try:
        return msgspec.json.decode(position, type=int | str)
    except msgspec.DecodeError as error:
        raise SourceError(
            f"{request.watermark(part)} is not an offset: {position}",
            "set it to an offset of the source, for example: " + request.remedy(part, "1200"),
        ) from error


def _encode(offset: Offset) -> str:
    return msgspec.json.encode(offset).decode()


def _label(path: str, part: str) -> str:
    return f"{path}.newest, part {part!r}," if part else f"{path}.newest"
