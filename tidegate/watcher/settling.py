"""Since when the files of partitions have been as they are; in memory only.

After a restart the time begins again: a partition is reported later, and never too early. Times are of a
clock that only goes forward; the times of files are those of other machines.
"""

from collections.abc import Mapping

from tidegate.domain.model import Watch
from tidegate.scheduler.model.records.watched import Files
from tidegate.watcher.partitions import FoundPartition, waits_for


class Settling:
    """The partitions of one dataset that have something new."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[dict[str, tuple[int, str]], float]] = {}

    def complete(
        self, found: Mapping[str, FoundPartition], known: Mapping[str, Files], watch: Watch, now: float
    ) -> list[FoundPartition]:
        """Return the partitions that are complete.

        Without a marker that takes two looks at least, however long ago the first one was.

        Args:
            now: seconds of a monotonic clock.
        """
        complete: list[FoundPartition] = []
        since, self._since = self._since, {}
        for key, partition in found.items():
            if waits_for(partition, known.get(key, {}), watch) != "":
                continue
            files, began = since.get(key, ({}, now))
            if watch.marker:
                complete.append(partition)
            elif files != partition.files:
                self._since[key] = (partition.files, now)
            else:
                self._since[key] = (files, began)
                if now - began >= watch.settle.total_seconds():
                    complete.append(partition)
        return complete
