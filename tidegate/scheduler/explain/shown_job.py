"""One job in full, as `tidegate jobs show --format json` and the server show it."""

from typing import Any

from tidegate.domain.value import Value
from tidegate.scheduler.explain.attempts import Attempt, attempts
from tidegate.scheduler.explain.history import NEWEST_MAX, history_of
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.store.protocol import Reader


class ShownJob(Value, kw_only=True):
    """A job with everything that the store knows of it.

    Attributes:
        events: how many it has collected.
        collected: the newest of them, oldest first.
        history: its newest entries of the journal, oldest first.
        operation_run: of an operation on a table, if its run has begun.
    """

    job: Job
    attempts: tuple[Attempt, ...]
    events: int
    collected: tuple[Delivery, ...]
    history: tuple[Entry, ...]
    operation_run: OperationRun | None = None

    @property
    def json(self) -> dict[str, Any]:
        """Its members; the run of an operation only of one."""
        names = [name for name in self.__struct_fields__ if name != "operation_run"]
        found = {name: getattr(self, name) for name in names}
        return found if self.job.maintenance is None else {**found, "operation_run": self.operation_run}


def shown_job(reader: Reader, job: Job, limit: int | None = NEWEST_MAX) -> ShownJob:
    """Return a job in full.

    Args:
        limit: how many of its events and entries; None for all.
    """
    events = reader.count_deliveries(job.id)
    return ShownJob(
        job=job,
        attempts=tuple(attempts(reader, job)),
        events=events,
        collected=reader.newest_deliveries(job.id, events if limit is None else limit),
        history=history_of(reader, job, limit),
        operation_run=next(iter(reader.operation_runs(jobs=[job.id])), None),
    )
