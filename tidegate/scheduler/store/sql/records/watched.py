"""Watched folders in SQL."""

from collections.abc import Collection, Sequence

from sqlalchemy import Column, Connection, Table, Text, delete

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.model.records.watched import WatchedFolder, WatchedPartition
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements.moves import move
from tidegate.scheduler.store.sql.statements.queries import Changes, Queries, every

watched_folders = Table(
    "watched_folders",
    metadata,
    Column("dataset", Name, primary_key=True),
    Column("project", Name, nullable=False),
    Column("folder", Text, nullable=False),
    Column("since", Instant),
    Column("problem", Text, nullable=False),
    Column("remedy", Text, nullable=False),
    Column("problem_since", Instant),
)
watched_partitions = Table(
    "watched_partitions",
    metadata,
    Column("dataset", Name, primary_key=True),
    Column("key", Name, primary_key=True),
    Column("files", Json(dict[str, tuple[int, str]]), nullable=False),
    Column("at", Instant, nullable=False),
)

FOLDERS = Codec(watched_folders, WatchedFolder)
PARTITIONS = Codec(watched_partitions, WatchedPartition)
ALL_FOLDERS = every(FOLDERS).order_by(watched_folders.c.dataset)
ALL_PARTITIONS = every(PARTITIONS).order_by(watched_partitions.c.key)


class WatchedReader(Queries):
    def watched_folders(self, project: str) -> tuple[WatchedFolder, ...]:
        return tuple(self._all(ALL_FOLDERS, FOLDERS.value, equals={watched_folders.c.project: project}))

    def watched_partitions(
        self, dataset: str, keys: Collection[str] | None = None
    ) -> tuple[WatchedPartition, ...]:
        among, same = {watched_partitions.c.key: keys}, {watched_partitions.c.dataset: dataset}
        return tuple(self._all(ALL_PARTITIONS, PARTITIONS.value, among, same))


class WatchedWriter(WatchedReader, Changes):
    def put_watched_folders(self, folders: Sequence[WatchedFolder]) -> None:
        self._put(FOLDERS, folders)

    def put_watched_partitions(self, partitions: Sequence[WatchedPartition]) -> None:
        self._put(PARTITIONS, partitions)

    def forget_watched(self, datasets: Collection[str]) -> None:
        self._delete(watched_folders.c.dataset, datasets)
        self._delete(watched_partitions.c.dataset, datasets)


def rename_watched(connection: Connection, names: Renames) -> None:
    """Give watched folders and their partitions the new names of their datasets."""
    for old, new in names.datasets.items():
        for column in (watched_folders.c.dataset, watched_partitions.c.dataset):
            connection.execute(delete(column.table).where(column == new))
            move(connection, column, old, new)
