"""Retention: how long the store keeps what no decision needs any more, and what it has pruned.

The sums of the ledger stay: when the events of a job go, their number goes into a sum of the day and the
disposition, in the same transaction.
"""

from datetime import date, datetime
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import Run

PASS_CURSOR = "retention"
"""Name of the cursor that holds where the pass is; without it nothing was ever pruned."""


class PrunedKind(StrEnum):
    """What stays known by its name (id) once it was pruned, so that it does not happen twice."""

    EVENT = "event"
    RUN = "run"
    DISCARDED_JOB = "job"


class OldJob(Value, kw_only=True):
    """A job, with what may still need it.

    Attributes:
        at_work: a run of it has not ended, or has claimed it and was never observed.
        waited_for: an instance that is not finished has recorded it as its upstream instance.
    """

    job: Job
    at_work: bool = False
    waited_for: bool = False


class OldEvent(Value, kw_only=True):
    """An event, with what may still need it.

    Attributes:
        unrouted: it was not routed yet.
        has_job: a job that the store has was opened or joined by it.
        superseded: its partition has a newer event; also true of an event without a partition.
        original_held: it repeats an event that the store has.
    """

    event: Event
    unrouted: bool = False
    has_job: bool = False
    superseded: bool = True
    original_held: bool = False


class OldRun(Value, kw_only=True):
    """A run, and whether the store has its job."""

    run: Run
    has_job: bool = False


class OpenInstance(Value, kw_only=True):
    """An instance of a task that has not ended: its task, the number of its backfill, its scheduled time."""

    task: str
    number: int
    scheduled: datetime


class LedgerSum(Value, kw_only=True):
    """Events of one schedule and one day that were pruned, by disposition.

    Attributes:
        day: the day (UTC) on which their job ended, or on which they were discarded.
        outcome: a column of the ledger: succeeded, failed or discarded.
        reason: a reason code; "" where the column has none.
    """

    schedule: str
    day: date
    outcome: str
    reason: str = ""
    events: int


class Snapshot(Value, kw_only=True):
    """The state of the store as of one number of the journal.

    Attributes:
        number: of the last entry that it contains; 0 for none.
        at: the engine's clock, in UTC.
        state: compressed.
    """

    number: int
    at: datetime
    state: bytes


class Pruned(Value, kw_only=True):
    """The number of rows that were pruned, or would be."""

    jobs: int = 0
    events: int = 0
    deliveries: int = 0
    runs: int = 0
    launches: int = 0
    journal: int = 0
    snapshots: int = 0

    def plus(self, other: "Pruned") -> "Pruned":
        """Return the sum of both."""
        return Pruned(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    @property
    def rows(self) -> int:
        """The number of all rows."""
        return sum(getattr(self, name) for name in self.__struct_fields__)
