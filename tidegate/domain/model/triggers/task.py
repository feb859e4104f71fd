"""The trigger of a cycle task: its instances, their times and their upstream instances (docs/cycles.md).

A task is a schedule with this trigger. The engine makes its instances, each of which is a job with a
scheduled time, and the trigger of an instance holds when its start time has come and all its upstream
instances are successful. Events are delivered only to a source that is updated from outside: those of its
dataset report its instances.
"""

from datetime import date, time, timedelta
from typing import Literal, Self

import msgspec

from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.shared import Calendar, Day
from tidegate.domain.model.triggers.facts import LeafTrigger, Renaming
from tidegate.domain.value import Value

TaskType = Literal["source", "materialization", "acceleration", "external"]
TaskUpdate = Literal["periodic", "outside", "full", "partition", "merge"]
Select = Literal["nearest", "last", "first", "all", "exactly_one"]
Period = Literal["same", "previous", "week", "month", "year", "span"]
CALENDAR_PERIODS = ("week", "month", "year")
"""Periods of the calendar, in which business dates are looked for."""

LAST_DAY = -1
"""The day `last` of a month."""

CATCH_UP_AT_MOST = timedelta(days=2)
"""How old the scheduled time of an instance may be that is made up for after a downtime."""


HOLIDAYS = timedelta(days=31)
"""So much later than its business date an instance is scheduled over days that are not business days."""

NEAR = timedelta(days=3)
"""Further than that no natural hour or day reaches, in any two zones."""


class TaskTimes(Value, kw_only=True):
    """The configured times of a task: its `at:`. All of them are wall times in the task's zone.

    Attributes:
        every: minutes between two instances of a minute task, hours of an hour task, from 1.
        minute: of an hour task: the minute of its start time, 0 to 59.
        time: of tasks of a day and longer: minutes from 00:00 to the start time.
        from_, to: of tasks of minutes and hours: the first and the last wall time of a day, both included, in
            minutes from 00:00; None for the whole day.
        weekdays: of a week task: the days on which its instances are real.
        days: of a month task: such days, 1 to 31, or `LAST_DAY`.
        dates: of a year task: such dates, each month and day.
    """

    every: int = 1
    minute: int = 0
    time: int = 0
    from_: int | None = None
    to: int | None = None
    weekdays: tuple[Day, ...] = ()
    days: tuple[int, ...] = ()
    dates: tuple[tuple[int, int], ...] = ()


class Dependency(Value, kw_only=True):
    """An upstream task.

    Attributes:
        task: its name in the app, or "app/name"; the task's own name for `self`.
        itself: whether it is `self`: the previous instance of the task.
        select: which instance of the container is picked; None for the rule of the two cycles.
        period: the container: the natural hour or day of the instance, or the one before; the calendar period
            of its business date; or a span that ends with its scheduled time.
        within: the length of the span.
        week_starts: the first day of calendar weeks.
        detected: it was found from the datasets that the program reads.
    """

    task: str
    itself: bool = False
    select: Select | None = None
    period: Period = "same"
    within: timedelta | None = None
    week_starts: Day = "sun"
    detected: bool = False

    @property
    def is_long(self) -> bool:
        """Whether it looks beyond the natural hour or day: into a calendar period or a span."""
        return self.period not in ("same", "previous")

    @property
    def reach(self) -> timedelta:
        """How far apart the instances may be that it joins, at most."""
        lengths = {"week": 7, "month": 31, "year": 366}
        calendar = timedelta(days=lengths[self.period]) + HOLIDAYS if self.period in lengths else timedelta(0)
        return calendar + (self.within or timedelta(0)) + NEAR


class TaskTrigger(LeafTrigger, kw_only=True, tag="task"):
    """The instances of a task.

    Attributes:
        type: `source` and `external` have no program, and are never launched.
        dataset: the dataset, within the app or of another one, whose data a `source` or `external` waits for.
        update: `periodic` or `outside` for a `source`; else how the program writes, None if that is not said.
        timezone: of its times, business dates and containers.
        calendar: days that are not business days are off days, or days without instances.
        previous_business_day: its business date is the last business day before, by its calendar or of
            Monday to Friday; else the day before. Of cycles of a day and longer.
        day_starts: the app's; a start time before it belongs to the day before. Of such cycles too.
        enabled: whether instances are made at all.
        valid_from, valid_to: the first and the last day that has instances.
        catch_up_at_most: after a downtime, older instances are not made up for.
    """

    type: TaskType = "materialization"
    dataset: str | None = None
    cycle: Cycle
    times: TaskTimes = TaskTimes()
    update: TaskUpdate | None = None
    depends_on: tuple[Dependency, ...] = ()
    timezone: str = "UTC"
    calendar: Calendar | None = None
    previous_business_day: bool = False
    day_starts: time = time()
    enabled: bool = True
    valid_from: date | None = None
    valid_to: date | None = None
    catch_up_at_most: timedelta = CATCH_UP_AT_MOST

    @property
    def launches(self) -> bool:
        """Whether its instances are runs of a program."""
        return self.type in ("materialization", "acceleration")

    @property
    def reported(self) -> bool:
        """Whether its instances are Not Run until they are reported."""
        return self.type == "external" or self.update == "outside"

    @property
    def dataset_collected(self) -> str | None:
        return self.dataset if self.type == "source" and self.update == "outside" else None

    @property
    def tasks_heard(self) -> tuple[str, ...]:
        return tuple(each.task for each in self.depends_on if not each.itself)

    def renamed(self, *, dataset: Renaming, program: Renaming, task: Renaming) -> Self:
        depends_on = tuple(msgspec.structs.replace(each, task=task(each.task)) for each in self.depends_on)
        changed = super().renamed(dataset=dataset, program=program, task=task)
        return msgspec.structs.replace(changed, depends_on=depends_on)

    @property
    def noun(self) -> str:
        return "a task"

    def one_line(self) -> str:
        upstream = ", ".join("self" if each.itself else each.task for each in self.depends_on)
        return f"each {self.cycle}" + (f" after {upstream}" if upstream else "")
