"""What a scenario gives and expects of instances of tasks; see `compiler.scenarios.model.scenario`."""

from datetime import datetime
from typing import Literal

from tidegate.domain.model import Priority
from tidegate.domain.value import Value

InstanceDo = Literal["mark_successful", "pause", "resume", "rerun", "rerun_downstream"]


class ActOnInstance(Value, kw_only=True):
    """A person acts on an instance of a task, named by its scheduled time or its business date.

    Attributes:
        number: of the backfill that it belongs to; with `business_date` 1 where it is left out.
    """

    task: str
    do: InstanceDo
    scheduled: str | None = None
    business_date: str | None = None
    number: int | None = None


class ReportInstances(Value, kw_only=True):
    """Instances of a task are reported from outside: some scheduled times, or all of a range."""

    task: str
    scheduled: tuple[str, ...] = ()
    from_: str | None = None
    to: str | None = None
    status: Literal["successful", "failed"] = "successful"
    request: str = ""


class StartBackfill(Value, kw_only=True):
    """A person starts a backfill of a task or schedule, or of the whole app where `task` is None."""

    task: str | None = None
    from_: str | None = None
    to: str | None = None
    keys: tuple[str, ...] = ()
    which: Literal["missing", "failed", "stale", "all"] = "all"
    lot: int = 1
    upstream: bool = False
    only: tuple[str, ...] = ()
    priority: Priority | None = None
    quiet_downstream: bool = False


class CancelBackfill(Value, kw_only=True):
    """A person cancels a backfill of a task or, without `task`, of the app; without `number` the newest."""

    task: str | None = None
    number: int | None = None


class ResumeBackfill(Value, kw_only=True):
    """A person resumes a cancelled backfill, which is named as in `CancelBackfill`."""

    task: str | None = None
    number: int | None = None


InstanceStatus = Literal["not_run", "waiting", "running", "successful", "failed", "paused", "absent"]


class ExpectInstance(Value, kw_only=True):
    """The state of an instance of a task at the end of an instant. Attributes that are None are not compared.

    Attributes:
        scheduled: its scheduled time; None for an instance of a backfill that is named by its business date.
        upstream: the scheduled times of its upstream instances, by task; a task that is not named is not
            compared.
        number: of the backfill; None for the first one where `scheduled` is None, else for no backfill.
    """

    task: str
    when: datetime
    scheduled: str | None = None
    business_date: str | None = None
    number: int | None = None
    status: InstanceStatus | None = None
    reason: str | None = None
    empty: bool | None = None
    marked: bool | None = None
    attempt: int | None = None
    upstream: dict[str, tuple[str, ...]] | None = None
    diagnostic: str | None = None


class ExpectInstances(Value, kw_only=True):
    """The number of instances of a task whose scheduled time is on a day, without those of backfills.

    Attributes:
        day: the day in the task's zone, as 2026-03-10.
        empty: how many of them are empty runs.
    """

    task: str
    when: datetime
    day: str
    count: int | None = None
    empty: int | None = None
