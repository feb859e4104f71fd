"""Rows appended to an Iceberg table; the parts are its partitions, and a position is a snapshot.

    base ◄── append ◄── replace (compaction) ◄── append = current
     └ position        nothing new                 └ new position

From the current snapshot one walks back, parent by parent, to that of the position: appends
bring rows, compaction does not, and what removes or replaces rows of a partition that is
read stops the reader, for nobody takes back what it has made of them. A gap, where snapshots
have expired, is an error too and never skipped. A run that reads every partition moves only
the watermark of the part "", which holds for every partition without a later one of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Literal, NamedTuple

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidegate.domain.partition_key import SEPARATOR
from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.partition_columns import in_partitions
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.iceberg.catalog import IcebergCatalog, TableName, java_failures, sql_name
from tidegate.spark_jobs.iceberg.output import table_name
from tidegate.spark_jobs.iceberg.table import added_files, check_partitions, data_file

WHOLE = ""
"""The part whose watermark holds for all partitions."""
MAX_SNAPSHOTS = 10_000
"""How far one walks back. Tables expire snapshots long before they have so many."""
NEW_ROWS = "append"
NOTHING_NEW = "replace"


class SnapshotPosition(Value, kw_only=True):
    """The snapshot up to which a part has been read."""

    snapshot: int


class _Group(Value, kw_only=True):
    """Partitions that have been read equally far.

    Attributes:
        after: the snapshot of their position; None when they are read whole.
        keys: the partitions, or with `but` all partitions except these.
    """

    after: int | None
    keys: frozenset[str]
    kind: Literal["these", "but"]

    def has(self, key: str) -> bool:
        """Whether a partition is in it."""
        return (key in self.keys) == (self.kind == "these")


class _Past(NamedTuple):
    """A snapshot of Iceberg's with what is asked of it often."""

    id: int
    parent: int | None
    kind: str
    snapshot: Any


def read_new_snapshots(spark: SparkSession, request: IncrementalRead) -> Increment:
    """The rows that were appended since the watermarks, to the partitions that are taken.

    Raises:
        SourceError: rows were removed or replaced meanwhile, or snapshots are gone.
    """
    catalog, name, dimensions = IcebergCatalog(spark), table_name(request.ref), request.ref.dimensions()
    table = catalog.table(name)
    current = None if table is None else table.currentSnapshot()
    if table is None or current is None:
        return Increment(frame=None)
    check_partitions(table, name, dimensions)
    history = _History(table, current, request)
    if request.selects_all or not dimensions:
        groups, moved = _all_groups(request, history)
    else:
        groups, moved = _taken_groups(request, history, _present(spark, name, current, dimensions))
    newest = _encode(current.snapshotId())
    frames = [
        _rows(spark, name, group, current.snapshotId(), dimensions)
        for group in groups
        if history.brings_rows(catalog, group, dimensions)
    ]
    nothing = _at(spark, name, current.snapshotId()).where(sf.lit(False))
    frame = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames or [nothing])
    return Increment(frame=frame, positions=dict.fromkeys(moved, newest))


class _History:
    """The snapshots of a table from the current one back, as far as they have been asked for."""

    def __init__(self, table: Any, current: Any, request: IncrementalRead) -> None:
        self._table = table
        self._request = request
        self._seen = [_past(current)]
        self._found = {self._seen[0].id: 0}
        self._touched: dict[int, frozenset[str]] = {}
        self._end = False

    def latest(self, part: str, snapshots: Iterable[int]) -> int:
        """The one of some snapshots that is nearest to the current one.

        Raises:
            SourceError: none of them is an ancestor of the current one, as far as that can be seen.
        """
        wanted = frozenset(snapshots)
        while not wanted & self._found.keys():
            if self._end or len(self._seen) > MAX_SNAPSHOTS:
                raise self._lost(part, wanted)
            parent = self._seen[-1].parent
            before = None if parent is None else self._table.snapshot(parent)
            if parent is not None:
                # A parent that has expired is still known by its child: what came after it is whole.
                self._found[parent] = len(self._seen)
            if before is None:
                self._end = True
            else:
                self._seen.append(_past(before))
        return min(wanted & self._found.keys(), key=lambda snapshot: self._found[snapshot])

    def brings_rows(self, catalog: IcebergCatalog, group: _Group, dimensions: Sequence[str]) -> bool:
        """Whether there are rows to be read for a group.

        Raises:
            SourceError: rows of the group were removed or replaced since its position.
        """
        if group.after is None:
            return True
        since = self._seen[: self._found[group.after]]
        for past in since:
            if past.kind in (NEW_ROWS, NOTHING_NEW):
                continue
            if past.id not in self._touched:
                with java_failures(f"look at snapshot {past.id} of {self._request.ref.id}"):
                    touched = frozenset(_touched(catalog, self._table, past.snapshot, dimensions))
                self._touched[past.id] = touched
            ours = sorted(key for key in self._touched[past.id] if group.has(key))
            if ours:
                raise self._broken(past, ours, WHOLE if group.kind == "but" else ours[0])
        return any(past.kind == NEW_ROWS for past in since)

    def _lost(self, part: str, wanted: frozenset[int]) -> SourceError:
        oldest = self._seen[-1].id
        why = f"the snapshots between have expired; the oldest that is left is {oldest}"
        if self._seen[-1].parent is None:
            why = "it is no ancestor of the current one; the table was rolled back, or made anew"
            oldest = self._seen[0].id
        return SourceError(
            f"{self._request.consumer} has read {self._named(part)} up to snapshot {max(wanted)}, and {why}: "
            "what is new cannot be told",
            "compare the table with what was made of it; then go on from there with: "
            + self._request.remedy(part, _encode(oldest)),
        )

    def _broken(self, past: _Past, touched: Sequence[str], part: str) -> SourceError:
        where = f" of {', '.join(touched[:3])}" if touched[0] else ""
        return SourceError(
            f"{self._request.ref.id}: snapshot {past.id} ({past.kind}) has removed or replaced "
            f"rows{where}, which {self._request.consumer} may have read: what is new cannot be told",
            "correct what was made of those rows; then go on with what came after it: "
            + self._request.remedy(part, _encode(past.id)),
        )

    def _named(self, part: str) -> str:
        return f"{self._request.ref.id}, partition {part}," if part else self._request.ref.id


def _all_groups(request: IncrementalRead, history: _History) -> tuple[list[_Group], set[str]]:
    """The groups of a run that reads everything, and the parts whose watermark moves."""
    floor = _decode(request, WHOLE)
    own: dict[str, int | None] = dict.fromkeys(request.reset - {WHOLE})
    for part in request.positions.keys() - {WHOLE}:
        mark = _decode(request, part)
        if (
            mark is not None
            and history.latest(part, {mark} | ({floor} if floor is not None else set())) != floor
        ):
            own[part] = mark
    rest = _Group(
        after=None if floor is None else history.latest(WHOLE, [floor]), keys=frozenset(own), kind="but"
    )
    return [rest, *_grouped(own)], {WHOLE, *(request.reset - {WHOLE})}


def _taken_groups(
    request: IncrementalRead, history: _History, present: Iterable[str]
) -> tuple[list[_Group], set[str]]:
    """The same for a run that reads some of the partitions that there are."""
    floor = _decode(request, WHOLE)
    own: dict[str, int | None] = {}
    for key in present:
        if request.selects(key):
            marks = {_decode(request, key), None if key in request.reset else floor} - {None}
            own[key] = history.latest(key, [mark for mark in marks if mark is not None]) if marks else None
    return _grouped(own), set(own)


def _grouped(own: Mapping[str, int | None]) -> list[_Group]:
    groups: dict[int | None, set[str]] = {}
    for key, after in own.items():
        groups.setdefault(after, set()).add(key)
    return [_Group(after=after, keys=frozenset(keys), kind="these") for after, keys in groups.items()]


def _rows(
    spark: SparkSession, name: TableName, group: _Group, current: int, dimensions: Sequence[str]
) -> DataFrame:
    if group.after is None:
        rows = _at(spark, name, current)
    else:
        # Iceberg takes the appends of the range alone; that nothing else happened was looked at before.
        between = {"start-snapshot-id": str(group.after), "end-snapshot-id": str(current)}
        rows = spark.read.options(**between).table(sql_name(name))
    if not dimensions or not group.keys:
        return rows
    listed = in_partitions(dimensions, [key.split(SEPARATOR) for key in sorted(group.keys)])
    return rows.where(listed if group.kind == "these" else ~sf.coalesce(listed, sf.lit(False)))


def _past(snapshot: Any) -> _Past:
    return _Past(snapshot.snapshotId(), snapshot.parentId(), snapshot.operation(), snapshot)


def _at(spark: SparkSession, name: TableName, snapshot: int) -> DataFrame:
    return spark.read.option("snapshot-id", str(snapshot)).table(sql_name(name))


def _present(spark: SparkSession, name: TableName, current: Any, dimensions: Sequence[str]) -> list[str]:
    """The partitions that have rows."""
    found = (
        spark.read.format("iceberg")
        .option("snapshot-id", str(current.snapshotId()))
        .load(f"{sql_name(name)}.partitions")
        .select(*(f"partition.`{dimension}`" for dimension in dimensions))
        .collect()
    )
    return sorted(SEPARATOR.join(row) for row in found if None not in tuple(row))


def _touched(catalog: IcebergCatalog, table: Any, snapshot: Any, dimensions: Sequence[str]) -> Iterator[str]:
    """The partitions in which a snapshot that is no append has changed anything."""
    io = table.io()
    for files in (snapshot.removedDataFiles(io), added_files(table, snapshot), snapshot.addedDeleteFiles(io)):
        for file in files:
            yield SEPARATOR.join(data_file(catalog, file, dimensions).values)


def _encode(snapshot: int) -> str:
    return msgspec.json.encode(SnapshotPosition(snapshot=snapshot)).decode()


def _decode(request: IncrementalRead, part: str) -> int | None:
    position = request.positions.get(part)
    if position is None:
        return None
    try:
        return msgspec.json.decode(position, type=SnapshotPosition).snapshot
    except msgspec.DecodeError as error:
        raise SourceError(
            f"{request.watermark(part)} is no snapshot: {position}",
            "put it where the table stands: " + request.remedy(part, '{"snapshot": 123}'),
        ) from error
