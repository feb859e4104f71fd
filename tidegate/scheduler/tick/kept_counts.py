"""Kept counts: what the store keeps of the counted events of one job, as decisions ask for it (`Kept`).

Keys are looked up together with those of the events that are still to come in the working set, and cached.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.tally import TalliedKeys
from tidegate.scheduler.store.engine_rows import TallyRows

Keys = dict[tuple[str, str], int]


class KeptCounts:
    """What a trigger asks of the events that it has counted, from the rows of the store.

    Args:
        coming: the partition keys of the events of the working set.

    Attributes:
        knows_all_keys: whether no key is in the store only.
    """

    def __init__(self, rows: TallyRows, job: Job, coming: Collection[str]) -> None:
        self._rows = rows
        self._job = job
        self._coming = coming
        self._keys: Keys = {}
        self._asked: set[str] = set()
        self.knows_all_keys = False

    def note(self, keys: TalliedKeys) -> None:
        """Note what has changed of the keys, before it is written."""
        self._keys.update(keys)

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        missing = set(keys) - self._asked
        if missing and not self.knows_all_keys:
            # Events without a `for_each` are all for this job, so their keys are read together.
            missing |= set() if self._job.key else set(self._coming) - self._asked
            found = self._rows.tallied_keys(self._job.id, missing)
            self._keys = {**found, **self._keys}
            self._asked |= missing
        return self._keys

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        job = self._job
        return [
            Delivery(event=event, schedule=job.schedule, leaf=leaf, job=job.id, at=event.arrived)
            for event in self._rows.counted_events(job.id, leaf, after, limit)
        ]

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        return self._rows.newest_counted(self._job.id, leaf, until)
