"""Pending writes: what a working set has changed since it last wrote, and the transaction that takes it."""

from collections import Counter
from collections.abc import Mapping

from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.run import Launched
from tidegate.scheduler.store.protocol import EngineTransaction


class PendingWrites:
    """The changes since the last flush, in the order in which they were made.

    Attributes:
        unread: how many of the slots are of each resource that was not read: most are a job's own.
    """

    def __init__(self) -> None:
        self.states: dict[str, None] = {}
        self.jobs: dict[str, None] = {}
        self.edges: dict[str, tuple[str, ...]] = {}
        self.deliveries: list[Delivery] = []
        self.routed: list[str] = []
        self.slots: dict[str, tuple[str, ...]] = {}
        self.unread = Counter[str]()
        self.launches: list[Launched] = []
        self.journal: list[Entry] = []

    @property
    def empty(self) -> bool:
        """Whether nothing has changed."""
        return not any(vars(self).values())

    def write(
        self, transaction: EngineTransaction, states: Mapping[str, ScheduleState], jobs: Mapping[str, Job]
    ) -> None:
        """Write all changes.

        Args:
            states, jobs: the rows as they are now, by ref and by id.
        """
        transaction.put_schedules([states[ref] for ref in self.states])
        transaction.put_jobs([jobs[id] for id in self.jobs])
        if self.edges:
            transaction.put_edges(self.edges)
        transaction.add_deliveries(self.deliveries)
        transaction.mark_routed(self.routed)
        transaction.take_slots(self.slots)
        transaction.add_launches(self.launches)
        transaction.add_journal(self.journal)
