"""The partitions of datasets in memory."""

from collections.abc import Collection

from tidegate.scheduler.model.event import PARTITION_KEY, Event
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.answers import WHOLE, PartitionState
from tidegate.scheduler.store.memory.retention import DISCARDED_JOB
from tidegate.scheduler.store.memory.tables import Tables


class PartitionReader:
    """See `EngineReader`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def partition_states(self, dataset: str, keys: Collection[str]) -> tuple[PartitionState, ...]:
        """See `EngineReader.partition_states`."""
        newest: dict[str, Event] = {}
        for key, event in sorted(self._landed(dataset), key=lambda each: (each[1].arrived, each[1].id)):
            if key in keys:
                newest[key] = event
        return tuple(self._state(key, newest[key]) for key in sorted(newest))

    def partition_ends(self, dataset: str, prefixes: Collection[str]) -> tuple[tuple[str, str], ...]:
        """See `EngineReader.partition_ends`."""
        landed = [event.partition for event in self._events(dataset) if event.partition is not None]
        under = [[key for key in landed if key.startswith(prefix)] for prefix in set(prefixes)]
        return tuple(sorted((min(each), max(each)) for each in under if each))

    def partition_reports(self, dataset: str, keys: Collection[str], most: int) -> dict[str, int]:
        """See `EngineReader.partition_reports`."""
        landed = [key for key, _ in self._landed(dataset)]
        return {key: min(landed.count(key), most) for key in keys}

    def _landed(self, dataset: str) -> list[tuple[str, Event]]:
        """Return the events of a dataset with their keys."""
        return [
            (event.partition or WHOLE, event) for event in self._events(dataset) if event.partition != WHOLE
        ]

    def _events(self, dataset: str) -> list[Event]:
        key = f"{PARTITION_KEY}{dataset}"
        return [event for event in self._tables.events.values() if event.key == key]

    def _state(self, key: str, event: Event) -> PartitionState:
        taken = {
            job
            for job, marks in self._tables.deliveries.items()
            for (id_, _, _), mark in marks.items()
            if job is not None and id_ == event.id and mark.reason is None
        }
        kept = {self._tables.jobs[job].state for job in taken if job in self._tables.jobs}
        gone = any(
            job not in self._tables.jobs and (DISCARDED_JOB, job) not in self._tables.pruned for job in taken
        )
        return PartitionState(
            key=key,
            event=event.id,
            at=event.arrived,
            rows=event.rows,
            bytes=event.bytes,
            published=event.run_id is not None,
            consumed=JobState.SUCCEEDED in kept or gone,
            failed=JobState.FAILED in kept,
        )
