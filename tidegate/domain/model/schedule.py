"""A schedule: program, trigger, constraints, arguments and options.

Its `retries` are how often, and after what pauses, the engine starts a failed run again (rule 26). It carries
everything that decides about its jobs, calendars included, so two equal schedules behave alike.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from tidegate.domain.back_off import back_off
from tidegate.domain.model.constraint import Constraint, Timeout
from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.shared import At, Deadline, Routes
from tidegate.domain.model.triggers.task import TaskTrigger
from tidegate.domain.model.triggers.tree import Trigger
from tidegate.domain.value import Value


class Priority(StrEnum):
    """The order in which ready jobs take a free slot."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


OutputPartition = Literal["key", "manifest", "run", "business_date", "business_day", "current", "none"]
OnSuspend = Literal["discard", "drain", "hold", "backlog"]
OnUpdate = Literal["reset", "carry"]
Batching = Literal["coalesce", "each", "date"]
SensorOf = Literal["shared", "own"]


class Retries(Value, kw_only=True):
    """Further attempts of a job whose run failed.

    Attributes:
        max: number of further attempts.
        wait: pause between the end of a failed attempt and the next attempt.
        backoff: each pause is so many times as long as the one before; 1 keeps them equal.
    """

    max: int
    wait: timedelta = timedelta(0)
    backoff: float = 1.0
    at: At | None = None

    def pause(self, failed: int) -> timedelta:
        """Return the pause after a number of failed attempts, 1 or more."""
        return back_off(self.wait, failed, self.backoff)


class Repair(Value, kw_only=True):
    """How results that were early, or whose input was rewritten, are repaired (rule 30).

    Attributes:
        after: a repair that is still not whole is launched so long after its first event.
        at_most: the most repairs after a job that was not one.
        within: only events that arrive so long after the launch of that job open a repair.
    """

    after: timedelta = timedelta(minutes=10)
    at_most: int = 3
    within: timedelta = timedelta(days=7)
    at: At | None = None


class Schedule(Value, kw_only=True):
    """Program, trigger, constraints and arguments.

    Attributes:
        for_each: evaluate the trigger separately for each partition key, or for each period of a cycle.
        output_partition: the partitions of its outputs that a run writes (docs/rules.md); `run` means those
            that the upstream runs wrote.
        program: "" for a task that launches nothing.
        output_from: with `run`, the only dataset of the upstream runs that counts.
        sensor: whether it has a sensor of its own in Dagster, with its switch and a skip reason.
        status: the initial status only; a schedule that a person suspended stays suspended (rule 23).
        args: arguments of the program, any JSON; strings may hold references such as
            "{{ trigger.partitions }}", see `compiler.template`.
        batching: with `coalesce` events join the waiting job; with `each` every satisfied trigger has a job;
            with `date` each business date has one, whose key it is. The compiler chooses the default.
        max_batch: a satisfied job with this many events takes no more; the next event opens another job.
        deadline: until when a job has to succeed; None for none.
        retries: how often the engine starts a failed run again; None starts only a run again that died.
        on_suspend: what a suspended schedule does with waiting jobs and new events (rule 10).
        on_update: whether a changed schedule discards its waiting job or keeps its events (rule 11).
        collect_existing: when new or reset, it also collects the partitions that arrived before.
        repair: how its jobs are repaired; None for jobs that stay as they were launched.
        alerts: the channels by kind of alert, before those of the app.
        renamed_from: former names; the first one that is deployed goes on under this name.
        timezone: the app's zone, in which the business date of a cron schedule is counted.
        written: its YAML as builtin values, without defaults; empty if a version before wrote it. It decides
            nothing.
    """

    name: str
    program: str
    trigger: Trigger
    constraints: tuple[Constraint, ...] = ()
    args: dict[str, Any] = {}
    timeout: Timeout = Timeout()
    retries: Retries | None = None
    deadline: Deadline | None = None
    priority: Priority = Priority.NORMAL
    for_each: Literal["partition"] | Cycle | None = None
    output_partition: OutputPartition = "none"
    output_from: str | None = None
    batching: Batching = "coalesce"
    max_batch: int | None = None
    on_suspend: OnSuspend = "discard"
    on_update: OnUpdate = "reset"
    collect_existing: bool = False
    repair: Repair | None = None
    sensor: SensorOf = "shared"
    renamed_from: tuple[str, ...] = ()
    status: Literal["active", "suspended"] = "suspended"
    timezone: str = "UTC"
    owner: str = ""
    alerts: Routes = {}
    description: str = ""
    written: dict[str, Any] = {}
    at: At | None = None

    @property
    def keyed_by_date(self) -> bool:
        """Whether the key of a job is its business date (rule 1)."""
        return self.batching == "date" and self.for_each is None

    @property
    def task(self) -> TaskTrigger | None:
        """What makes it a cycle task (docs/cycles.md); None for other schedules."""
        return self.trigger if isinstance(self.trigger, TaskTrigger) else None

    @property
    def as_task(self) -> TaskTrigger:
        """The same for a schedule that is known to be a task.

        Raises:
            ValueError: it has another trigger.
        """
        if self.task is None:
            raise ValueError(f"schedule {self.name} is not a task")
        return self.task
