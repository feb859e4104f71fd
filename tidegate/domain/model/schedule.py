"""A schedule: program, trigger, constraints, arguments, and what becomes of its jobs.

It carries all that its jobs are decided by, calendars included, so that two equal schedules act alike.
"""

from enum import StrEnum
from typing import Any, Literal

from tidegate.domain.model.constraint import Constraint, Timeout
from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.place import At
from tidegate.domain.model.triggers.tree import Trigger
from tidegate.domain.value import Value


class Priority(StrEnum):
    """Who takes the slot when several jobs are ready at once."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


OutputPartition = Literal["key", "manifest", "business_date", "none"]
OnSuspend = Literal["discard", "drain", "hold", "backlog"]


class Schedule(Value, kw_only=True):
    """Program, trigger, constraints and arguments.

    Attributes:
        for_each: evaluate the trigger for each partition key apart, or for each step of a cycle.
        output_partition: which partitions of its outputs a run writes (docs/rules.md).
        status: the initial status only; a schedule suspended by hand stays so (rule 23).
        args: handed to the program, any JSON; strings may hold references such as
            "{{ trigger.partitions }}", which `compiler.template` reads.
        batching: `coalesce` lets events join the waiting job; `each` gives every satisfied trigger its own.
        max_batch: a satisfied job with so many events takes no more; the next one opens another job.
        on_suspend: what a suspended schedule does with what waits and what comes (rule 10).
        on_update: whether a changed schedule's waiting job is given up, or keeps its events (rule 11).
        timezone: the app's zone; the business date of a cron schedule is counted in it.
    """

    name: str
    program: str
    trigger: Trigger
    constraints: tuple[Constraint, ...] = ()
    args: dict[str, Any] = {}
    timeout: Timeout = Timeout()
    priority: Priority = Priority.NORMAL
    for_each: Literal["partition"] | Cycle | None = None
    output_partition: OutputPartition = "none"
    batching: Literal["coalesce", "each"] = "coalesce"
    max_batch: int | None = None
    on_suspend: OnSuspend = "discard"
    on_update: Literal["reset", "carry"] = "reset"
    status: Literal["active", "suspended"] = "suspended"
    timezone: str = "UTC"
    owner: str = ""
    description: str = ""
    at: At | None = None
