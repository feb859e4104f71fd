"""The protocol of the partitions of datasets; see `scheduler.store.protocol`.

A page asks for the partitions that it shows, by key. Each is found at the end of its own part of an index, so
an answer costs as much as there are keys, however often a partition was reported. The newest event of a
partition is never pruned: a partition without an event has not landed.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from tidegate.domain.value import Value

WHOLE = ""
"""The key of the one partition of a dataset without partitions, whose events have none."""


class PartitionState(Value, kw_only=True):
    """A partition that has landed, by its newest event.

    Attributes:
        event: the id of that event.
        at: when it arrived.
        published: a run of ours wrote it.
        consumed: a job that took the event has succeeded, or is no longer kept.
        failed: a job that took the event has failed.
    """

    key: str
    event: str
    at: datetime
    rows: int | None = None
    bytes: int | None = None
    published: bool = False
    consumed: bool = False
    failed: bool = False


class PartitionRows(Protocol):
    """Reads partitions."""

    def partition_states(self, dataset: str, keys: Collection[str]) -> tuple[PartitionState, ...]:
        """Those of these partitions of a dataset ("app/name") that have landed, by key."""
        ...

    def partition_ends(self, dataset: str, prefixes: Collection[str]) -> tuple[tuple[str, str], ...]:
        """The first and the last landed key with each of these prefixes, of those with any, sorted."""
        ...

    def partition_reports(self, dataset: str, keys: Collection[str], most: int) -> dict[str, int]:
        """How often each of these partitions has landed, counted up to `most`. Every key has an entry."""
        ...
