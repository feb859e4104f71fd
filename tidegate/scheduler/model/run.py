"""Runs as the engine knows them: runs of jobs, and external runs, which Tidegate did not start.

A run is observed, never assumed. An observation may arrive twice, late or out of order;
`scheduler.intake.observe` folds observations into these records and is idempotent.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class RunStatus(StrEnum):
    """The status of a run, in the order in which a run passes through them.

    QUEUED: Dagster has it in its queue. STARTING: its process is launched, and has not begun.
    """

    QUEUED = "queued"
    STARTING = "starting"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunState(StrEnum):
    """How far a run is that has not ended, in the words of people."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"


_STATES = {
    RunStatus.QUEUED: RunState.QUEUED,
    RunStatus.STARTING: RunState.STARTING,
    RunStatus.STARTED: RunState.RUNNING,
}

ENDED = frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED})


class Run(Value, kw_only=True):
    """One run of a program.

    Attributes:
        program: "app/program".
        job: the job that it belongs to; None for an external run.
        attempt: the attempt of that job.
        seen_at: when the scheduler first observed it.
        started_at: of a success whose start was not seen, when it ended.
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

    @property
    def state(self) -> RunState | None:
        """How far it is; None once it has ended."""
        return _STATES.get(self.status)

    @property
    def launched_at(self) -> datetime:
        """The earliest instant at which the run is known to have existed."""
        return self.seen_at if self.started_at is None else min(self.seen_at, self.started_at)


class ProgramHistory(Value, kw_only=True):
    """The last runs of a program, external runs included, for `since_last_run` and `elapsed`.

    Attributes:
        last_success_started: the latest start of a successful run.
        last_success_ended: the latest end of a successful run.
        last_ended: end of the run that ended last, with any status.
    """

    last_success_started: datetime | None = None
    last_success_ended: datetime | None = None
    last_ended: datetime | None = None


class Launched(Value, kw_only=True):
    """One launch of a program: of a job whose launch was decided, or of an external run.

    Attributes:
        program: "app/program".
        holder: the job's id (`Job.launch_holder`), or the run's where it has no job.
        at: when the launch was decided, or the run was started.
    """

    program: str
    holder: str
    at: datetime


class Gauge(Value, kw_only=True):
    """A reported number, for example the load of a cluster in percent.

    Attributes:
        name: under which it is reported.
        value: of the last report.
        reported_at: when that was.
    """

    name: str
    value: float
    reported_at: datetime


GAUGES = Kind(name="gauges", value=Gauge, key=("name",))


ALL_RUNS = "runs"
"""The resource of which every run takes a slot; `load: {max_active_runs}` counts its slots."""


def program_resource(program: str) -> str:
    """Return the resource of a program's runs. `program` is "app/program"."""
    return f"program:{program}"


def gauge_resource(gauge: str) -> str:
    """Return the resource that jobs waiting for a gauge are blocked on; it has no slots."""
    return f"gauge:{gauge}"


KEY, KEY_OF_BACKFILL = "key:", "key of a backfill:"
"""Prefixes of the resources of a schedule's keys."""


def keys_held(ref: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the resources of keys of a schedule ("app/name"), which each job about them holds."""
    return tuple(f"{KEY}{ref}:{key}" for key in keys)


def keys_of_backfill(ref: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the resources of keys of a schedule that jobs of backfills hold; each holds that of "" too."""
    return tuple(f"{KEY_OF_BACKFILL}{ref}:{key}" for key in keys)


def group_resource(group: str) -> str:
    """Return the resource of a group's runs; groups span apps."""
    return f"group:{group}"
