"""The protocols of the kept counts of waiting jobs; see `scheduler.store.protocol`.

They belong to jobs that wait: a store removes those of a job with `put_jobs` once it waits no longer, and
with `remove_deliveries`, unless the caller counts on without what has left. Code that adds deliveries
advances the counts of their jobs, or removes them.

Of a job whose events may stop counting, the counted events are kept too, by leaf and arrival.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys


class TallyRows(Protocol):
    """Reads kept counts."""

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        """The kept counts of those of these jobs (ids) that have some."""
        ...

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        """What these partition keys have added to the counts of a job, by leaf and key."""
        ...

    def counted_events(self, job: str, leaf: str, after: datetime, limit: int) -> tuple[Event, ...]:
        """The kept events of a job at a leaf that arrived after an instant, by arrival, then id."""
        ...

    def newest_counted(self, job: str, leaf: str, until: datetime) -> datetime | None:
        """The last arrival up to an instant, of the kept events of a job at a leaf."""
        ...


class TallyChanges(Protocol):
    """Changes kept counts."""

    def put_tallies(self, tallies: Sequence[KeptTally]) -> None:
        """Create or replace the counts of jobs; what their keys have added stays."""
        ...

    def put_tallied_keys(self, keys: Mapping[str, TalliedKeys]) -> None:
        """Record what keys have added to the kept counts of jobs (ids), 0 for nothing; other keys stay."""
        ...

    def put_counted_events(self, deliveries: Sequence[Delivery]) -> None:
        """Keep counted events of jobs, which `remove_deliveries` and `delete_tallies` remove."""
        ...

    def delete_tallies(self, jobs: Collection[str]) -> None:
        """Remove the counts of jobs, all their keys, and their counted events."""
        ...
