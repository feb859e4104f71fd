"""Events of published partitions, put into the store by whoever publishes, without Dagster.

A publish tells of itself as one of its steps, which may be done again after a crash or by
another process. So the id of each event is made of what was published: telling it twice, or
hearing of it once more from Dagster's log, changes nothing. It fulfils the protocol `Events` of
tidegate/spark_jobs/commit/context.py without knowing it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from tidegate.domain.published import PartitionFact
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key, publish_event_id
from tidegate.scheduler.store.protocol import Store


class PublishedEvents:
    """Tells a store of published partitions.

    Attributes of the events: they happened, and arrived, when they were told first.
    """

    def __init__(
        self, open_store: Callable[[], Store], clock: Callable[[], datetime], run_id: str | None = None
    ) -> None:
        """Args:
        open_store: the store, opened when there is something to tell.
        run_id: the run that tells; None for a publish that no run of its own reports.
        """
        self._open_store = open_store
        self._clock = clock
        self._run_id = run_id

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """Whether the store has all their events."""
        ids = {publish_event_id(commit, fact.dataset, fact.key) for fact in partitions}
        with self._open_store().reading() as reader:
            return len(reader.events(ids=ids, limit=len(ids))) == len(ids)

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """Put their events into the store; those that it has already stay as they are."""
        now = self._clock()
        events = [published_event(commit, fact, now, self._run_id) for fact in partitions]
        with self._open_store().transaction() as transaction:
            transaction.add_events(events)


def published_event(commit: str, fact: PartitionFact, at: datetime, run_id: str | None = None) -> Event:
    """The event of one published partition."""
    app, _, name = fact.dataset.partition("/")
    return Event(
        id=publish_event_id(commit, fact.dataset, fact.key),
        kind=EventKind.PARTITION,
        key=partition_event_key(app, name),
        time=at,
        arrived=at,
        partition=fact.key,
        bytes=fact.bytes,
        rows=fact.rows,
        run_id=run_id,
    )
