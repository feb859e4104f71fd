"""Due: a queue of rows by the instant at which they are due, and whether a tick has anything to do."""

import heapq
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.missed import has_missed
from tidegate.scheduler.tick.unfinished import Place, unfinished

TASKS_PER_PAGE = 200
"""Tasks with a day to generate that a query for due tasks returns: some thousand instances."""

MICROSECOND = timedelta(microseconds=1)


class DueQueue:
    """The ids of rows, by the instant at which each is due, then by id.

    A row that becomes due at another instant is added again; its old place is skipped.

    Args:
        is_due: whether a row is still due at the instant for which it was added.
    """

    def __init__(self, is_due: Callable[[datetime, str], bool]) -> None:
        self._is_due = is_due
        self._heap: list[tuple[datetime, str]] = []

    def add(self, instant: datetime, id: str) -> None:
        """Add a row that is due at an instant."""
        heapq.heappush(self._heap, (instant, id))

    def first(self) -> datetime | None:
        """Return the earliest instant at which a row is due."""
        while self._heap and not self._is_due(*self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, until: datetime, last: Place | None = None) -> list[str]:
        """Remove and return the ids of the rows that are due by an instant, each once.

        Args:
            last: only those up to this place; None for all.
        """
        found: dict[str, None] = {}
        while self._heap and self._heap[0][0] <= until and (last is None or self._heap[0] <= last):
            instant, id = heapq.heappop(self._heap)
            if self._is_due(instant, id):
                found[id] = None
        return list(found)


class WokenQueues:
    """The queues of blocked jobs that were woken, by the instant at which each is looked at."""

    def __init__(self, woken: Iterable[tuple[str, datetime]]) -> None:
        self._at = dict(woken)

    def first(self) -> datetime | None:
        """Return the earliest instant at which a queue is looked at."""
        return min(self._at.values(), default=None)

    def take(self, until: datetime) -> list[str]:
        """Remove and return the queues that are looked at by an instant, by name."""
        taken = sorted(queue for queue, at in self._at.items() if at <= until)
        self._at = {queue: at for queue, at in self._at.items() if at > until}
        return taken


def is_anything_due(reader: EngineReader, until: datetime) -> bool:
    """Return whether a tick at `until` would have something to do, as far as the store says now."""
    maintenance = reader.next_maintenance()
    return (
        has_missed(reader)
        or unfinished(reader) is not None
        or bool(reader.unrouted_events(1) or reader.due_schedules(until, 1))
        or bool(
            reader.due_schedules(until, 1, tasks=True)
            or reader.due_jobs(until, 1)
            or reader.woken(until, 1)
            or reader.due_records(OVERRIDES, until, 1)
        )
        or (maintenance is not None and maintenance <= until)
    )
