"""The protocols of watched folders; see `scheduler.store.protocol`."""

from collections.abc import Collection, Sequence
from typing import Protocol

from tidegate.scheduler.model.records.watched import WatchedFolder, WatchedPartition


class WatchedRows(Protocol):
    """Reads watched folders."""

    def watched_folders(self, project: str) -> tuple[WatchedFolder, ...]:
        """The folders of a project, by dataset."""
        ...

    def watched_partitions(
        self, dataset: str, keys: Collection[str] | None = None
    ) -> tuple[WatchedPartition, ...]:
        """The known partitions of a dataset, all or those with these keys, by key."""
        ...


class WatchedChanges(Protocol):
    """Changes watched folders."""

    def put_watched_folders(self, folders: Sequence[WatchedFolder]) -> None:
        """Create or replace folders, by dataset."""
        ...

    def put_watched_partitions(self, partitions: Sequence[WatchedPartition]) -> None:
        """Create or replace partitions, by dataset and key."""
        ...

    def forget_watched(self, datasets: Collection[str]) -> None:
        """Remove the folders of these datasets with their partitions."""
        ...
