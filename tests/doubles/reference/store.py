"""The reference store: what SQL stores say and hold, in memory."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tests.doubles.reference.alerts import AlertReader, AlertWriter
from tests.doubles.reference.pages import PageReader
from tests.doubles.reference.retention import RetentionReader, RetentionWriter
from tests.doubles.reference.tables import ReferenceTables
from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.store.memory.store import MemoryStore


class ReferenceReader(AlertReader, PageReader, RetentionReader):
    """Reads one state of the reference store."""


class ReferenceTransaction(AlertWriter, PageReader, RetentionWriter):
    """Changes a fork of the committed tables."""

    def rename(self, names: Renames) -> None:
        super().rename(names)
        self._tables.own("sums")
        before, self._tables.sums = self._tables.sums, {}
        for (schedule, day, outcome, reason), events in before.items():
            key = (names.schedule(schedule), day, outcome, reason)
            self._tables.sums[key] = self._tables.sums.get(key, 0) + events

    def add_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        gone = self.pruned(PrunedKind.EVENT, [event.id for event in events])
        return super().add_events([event for event in events if event.id not in gone])


class ReferenceStore(MemoryStore):
    """A store of every kind of row, in memory."""

    committed: ReferenceTables

    def __init__(self) -> None:
        super().__init__()
        self.committed = ReferenceTables()

    @contextmanager
    def reading(self) -> Generator[ReferenceReader]:
        yield ReferenceReader(self.committed)

    @contextmanager
    def transaction(self) -> Generator[ReferenceTransaction]:
        with super().transaction() as plain:
            yield ReferenceTransaction(plain._tables)
