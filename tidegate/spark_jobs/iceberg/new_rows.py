"""The rows appended to an Iceberg table: its parts are the partitions, and a position is a snapshot.

    base ◄── append ◄── replace (compaction) ◄── append = current
     └ position        no new rows                 └ new position

The reader follows the parents from the current snapshot back to the position. Appends
add rows, compactions do not. A snapshot that removes or replaces rows of a partition that is
read is an error, because the results of those rows cannot be withdrawn. A gap where snapshots
have expired is an error too. A run that reads every partition moves only
the watermark of the part "", which applies to every partition without a later watermark of its own.
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
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, catalog_of, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.output import table_name
from tidegate.spark_jobs.iceberg.table.data_files import partition_values
from tidegate.spark_jobs.iceberg.table.table import added_files, check_partitions

WHOLE = ""
"""The part whose watermark applies to all partitions."""
MAX_SNAPSHOTS = 10_000
"""Maximum number of snapshots followed back. Tables expire snapshots long before."""
NEW_ROWS = "append"
NOTHING_NEW = "replace"


class SnapshotPosition(Value, kw_only=True):
    """The last snapshot that was read of a part."""

    snapshot: int


def encode_position(snapshot: int) -> str:
    """Return the position of a watermark up to a snapshot, as text."""
    return msgspec.json.encode(SnapshotPosition(snapshot=snapshot)).decode()


class _Group(Value, kw_only=True):
    """Partitions with the same position.

    Attributes:
        after: the snapshot of their position; None when all their rows are read.
        keys: the partitions; for the kind `but`, all partitions except these.
    """

    after: int | None
    keys: frozenset[str]
    kind: Literal["these", "but"]

    def has(self, key: str) -> bool:
        """Return whether a partition is in the group."""
        return (key in self.keys) == (self.kind == "these")


class _Snapshot(NamedTuple):
    """An Iceberg snapshot, with its most used properties."""

    id: int
    parent: int | None
    kind: str
    java: Any


def read_new_snapshots(spark: SparkSession, request: IncrementalRead) -> Increment:
    """Return the rows that were appended to the selected partitions since the watermarks.

    Raises:
        SourceError: rows were removed or replaced since, or snapshots have expired.
    """
    catalog, name, dimensions = catalog_of(spark), table_name(request.ref), request.ref.dimensions()
    table = catalog.table(name)
    current = None if table is None else table.currentSnapshot()
    if table is None or current is None:
        return Increment(frame=None)
    check_partitions(catalog, table, name, dimensions)
    history = _History(table, current, request)
    if request.selects_all or not dimensions:
        groups, moved = _all_groups(request, history)
    else:
        groups, moved = _taken_groups(request, history, _present(spark, name, current, dimensions))
    newest = encode_position(current.snapshotId())
    frames = [
        _rows(spark, name, group, current.snapshotId(), dimensions)
        for group in groups
        if history.brings_rows(catalog, group, dimensions)
    ]
    nothing = _at(spark, name, current.snapshotId()).where(sf.lit(False))
    frame = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames or [nothing])
    return Increment(frame=frame, positions=dict.fromkeys(moved, newest))


class _History:
    """The snapshots of a table from the current one back, loaded on demand."""

    def __init__(self, table: Any, current: Any, request: IncrementalRead) -> None:
        self._table = table
        self._request = request
        self._ancestors = [_snapshot(current)]
        self._distances = {self._ancestors[0].id: 0}
        self._touched: dict[int, frozenset[str]] = {}
        self._end = False

    def latest(self, part: str, snapshots: Iterable[int]) -> int:
        """Return the snapshot that is closest to the current one.

        Raises:
            SourceError: none of them is a known ancestor of the current one.
        """
        wanted = frozenset(snapshots)
        while not wanted & self._distances.keys():
            if self._end or len(self._ancestors) > MAX_SNAPSHOTS:
                raise self._expired(part, wanted)
            parent = self._ancestors[-1].parent
            before = None if parent is None else self._table.snapshot(parent)
            if parent is not None:
                # An expired parent is still known by its child, so all snapshots after it are known.
                self._distances[parent] = len(self._ancestors)
            if before is None:
                self._end = True
            else:
                self._ancestors.append(_snapshot(before))
        return min(wanted & self._distances.keys(), key=lambda snapshot: self._distances[snapshot])

    def brings_rows(self, catalog: IcebergCatalog, group: _Group, dimensions: Sequence[str]) -> bool:
        """Return whether there are rows to read for a group.

        Raises:
            SourceError: rows of the group were removed or replaced since its position.
        """
        if group.after is None:
            return True
        since = self._ancestors[: self._distances[group.after]]
        for snapshot in since:
            if snapshot.kind in (NEW_ROWS, NOTHING_NEW):
                continue
            if snapshot.id not in self._touched:
                with java_failures(f"read snapshot {snapshot.id} of {self._request.ref.id}"):
                    touched = frozenset(_touched(catalog, self._table, snapshot.java, dimensions))
                self._touched[snapshot.id] = touched
            ours = sorted(key for key in self._touched[snapshot.id] if group.has(key))
            if ours:
                raise self._rewritten(snapshot, ours, WHOLE if group.kind == "but" else ours[0])
        return any(snapshot.kind == NEW_ROWS for snapshot in since)

    def _expired(self, part: str, wanted: frozenset[int]) -> SourceError:
        oldest = self._ancestors[-1].id
        why = f"but later snapshots have expired; the oldest that still exists is {oldest}"
        if self._ancestors[-1].parent is None:
            why = "which is not an ancestor of the current one; the table was rolled back or created again"
            oldest = self._ancestors[0].id
        return SourceError(
            f"{self._request.consumer} has read {self._named(part)} up to snapshot {max(wanted)}, {why}: "
            "the new rows cannot be determined",
            "compare the table with the outputs made from it, correct them, and continue with: "
            + self._request.remedy(part, encode_position(oldest)),
        )

    def _rewritten(self, snapshot: _Snapshot, touched: Sequence[str], part: str) -> SourceError:
        where = f" of {', '.join(touched[:3])}" if touched[0] else ""
        return SourceError(
            f"{self._request.ref.id}: snapshot {snapshot.id} ({snapshot.kind}) has removed or replaced "
            f"rows{where}, which {self._request.consumer} may have read: the new rows cannot be determined",
            "correct the outputs made from those rows, and continue after this snapshot with: "
            + self._request.remedy(part, encode_position(snapshot.id)),
        )

    def _named(self, part: str) -> str:
        return f"{self._request.ref.id}, partition {part}," if part else self._request.ref.id


def _all_groups(request: IncrementalRead, history: _History) -> tuple[list[_Group], set[str]]:
    """Return the groups of a run that reads all partitions, and the parts whose watermark moves."""
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
    """Return the groups of a run that reads some partitions, and the parts whose watermark moves."""
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
        # Iceberg reads only the appends of the range; `brings_rows` has excluded other changes.
        between = {"start-snapshot-id": str(group.after), "end-snapshot-id": str(current)}
        rows = spark.read.options(**between).table(sql_name(name))
    if not dimensions or not group.keys:
        return rows
    listed = in_partitions(dimensions, [key.split(SEPARATOR) for key in sorted(group.keys)])
    return rows.where(listed if group.kind == "these" else ~sf.coalesce(listed, sf.lit(False)))


def _snapshot(snapshot: Any) -> _Snapshot:
    return _Snapshot(snapshot.snapshotId(), snapshot.parentId(), snapshot.operation(), snapshot)


def _at(spark: SparkSession, name: TableName, snapshot: int) -> DataFrame:
    return spark.read.option("snapshot-id", str(snapshot)).table(sql_name(name))


def _present(spark: SparkSession, name: TableName, current: Any, dimensions: Sequence[str]) -> list[str]:
    """Return the keys of the partitions that have rows."""
    found = (
        spark.read.format("iceberg")
        .option("snapshot-id", str(current.snapshotId()))
        .load(f"{sql_name(name)}.partitions")
        .select(*(f"partition.`{dimension}`" for dimension in dimensions))
        .collect()
    )
    return sorted(SEPARATOR.join(row) for row in found if None not in tuple(row))


def _touched(catalog: IcebergCatalog, table: Any, snapshot: Any, dimensions: Sequence[str]) -> Iterator[str]:
    """Yield the partitions that a snapshot has changed; one may come twice."""
    io = table.io()
    for files in (snapshot.removedDataFiles(io), added_files(table, snapshot), snapshot.addedDeleteFiles(io)):
        for file in files:
            yield SEPARATOR.join(partition_values(catalog, file, len(dimensions)))


def _decode(request: IncrementalRead, part: str) -> int | None:
    position = request.positions.get(part)
    if position is None:
        return None
    try:
        return msgspec.json.decode(position, type=SnapshotPosition).snapshot
    except msgspec.DecodeError as error:
        raise SourceError(
            f"{request.watermark(part)} is not a snapshot: {position}",
            "set it to a snapshot id of the table: " + request.remedy(part, '{"snapshot": 123}'),
        ) from error
