"""Watched folders in memory."""

from collections.abc import Collection, Sequence

from tidegate.scheduler.model.records.watched import WatchedFolder, WatchedPartition
from tidegate.scheduler.store.memory.tables import Tables


class WatchedReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def watched_folders(self, project: str) -> tuple[WatchedFolder, ...]:
        found = sorted(self._tables.watched_folders.items())
        return tuple(each for _, each in found if each.project == project)

    def watched_partitions(
        self, dataset: str, keys: Collection[str] | None = None
    ) -> tuple[WatchedPartition, ...]:
        found = sorted(self._tables.watched_partitions.items())
        return tuple(each for (name, key), each in found if name == dataset and (keys is None or key in keys))


class WatchedWriter(WatchedReader):
    def put_watched_folders(self, folders: Sequence[WatchedFolder]) -> None:
        self._tables.own("watched_folders")
        self._tables.watched_folders.update({each.dataset: each for each in folders})

    def put_watched_partitions(self, partitions: Sequence[WatchedPartition]) -> None:
        self._tables.own("watched_partitions")
        self._tables.watched_partitions.update({(each.dataset, each.key): each for each in partitions})

    def forget_watched(self, datasets: Collection[str]) -> None:
        self._tables.own("watched_folders", "watched_partitions")
        for dataset in datasets:
            self._tables.watched_folders.pop(dataset, None)
        for name, key in [each for each in self._tables.watched_partitions if each[0] in datasets]:
            del self._tables.watched_partitions[name, key]
