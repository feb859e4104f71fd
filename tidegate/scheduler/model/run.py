"""Runs as the engine knows them: those it asked for, and those that others started.

A run is observed, never assumed. The same observation may come twice, late, or out of
order; `scheduler.intake.observe` folds observations into these records and is idempotent.
"""

from datetime import datetime
from enum import StrEnum

from tidegate.domain.value import Value


class RunStatus(StrEnum):
    """How far a run is, in the order in which a run passes through."""

    QUEUED = "queued"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED})


class Run(Value, kw_only=True):
    """One run of a program.

    Attributes:
        program: "app/program".
        job: the job it belongs to; None for a run that somebody else started.
        attempt: which attempt of that job.
        seen_at: when the scheduler first knew of it.
    """

    run_id: str
    program: str
    job: str | None = None
    attempt: int | None = None
    status: RunStatus
    seen_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def active(self) -> bool:
        return self.status not in ENDED


class ProgramHistory(Value, kw_only=True):
    """What `since_last_run` and `elapsed` need of a program's runs, whoever started them.

    Attributes:
        last_ended: end of the run that finished last, whatever its status.
    """

    last_success_started: datetime | None = None
    last_success_ended: datetime | None = None
    last_ended: datetime | None = None


class Gauge(Value, kw_only=True):
    """A number that somebody reports, for example the load of a cluster in percent."""

    name: str
    value: float
    reported_at: datetime


ALL_RUNS = "runs"
"""The resource of which every run of the store takes a slot; `load: {max_active_runs}` counts it."""


def program_resource(program: str) -> str:
    """The resource whose slots a program's runs take. `program` is "app/program"."""
    return f"program:{program}"


def gauge_resource(gauge: str) -> str:
    """What a job that waits for a gauge is blocked on; nobody takes slots of it."""
    return f"gauge:{gauge}"


def group_resource(group: str) -> str:
    """The resource whose slots the runs of a named group take; groups span apps."""
    return f"group:{group}"
