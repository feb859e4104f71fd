"""*Tasks*: the deployed cycle tasks, their times, their upstream tasks and their next instance."""

from typing import Any

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class UpstreamTask(Value, kw_only=True):
    """A task for which another one waits.

    Attributes:
        task: its name in the app, "app/name" of another one, or self for the instance before.
        select: which instance is picked; null for the rule of the two cycles.
        period: in which instances are looked for: same, previous, week, month, year, or a span.
        detected: it was found from the datasets that the program reads.
    """

    task: str
    select: str | None
    period: str
    detected: bool

    @property
    def text(self) -> str:
        """What the YAML says of it, on one line."""
        periods = {"same": "", "previous": "period before"}
        of_calendar = f"of the {self.period}" if self.period in ("week", "month", "year") else ""
        notes = (
            (self.select or "").replace("_", " "),
            periods.get(self.period, of_calendar or f"of {self.period}"),
            "detected" if self.detected else "",
        )
        said = ", ".join(note for note in notes if note)
        return f"{self.task} ({said})" if said else self.task


class NextInstance(Value, kw_only=True):
    """The instance of a task that comes next.

    Attributes:
        scheduled: its scheduled time, as a key in the task's zone: 2026-03-10 or 2026-03-10-10:00.
        start: its start time, before which it does not run.
    """

    scheduled: str
    start: Instant


class CycleTask(Value, kw_only=True):
    """A deployed cycle task.

    Attributes:
        task: "app/name".
        type: source, materialization, acceleration or external.
        update: periodic or outside for a source; else full, partition or merge; null if that is not said.
        program: which its instances run; null for one that is reported.
        dataset: the one whose data a source or external waits for; null for any other.
        cycle: minute, hour, day, week, month or year.
        at: its times, as the YAML has them.
        timezone: of its times and business dates.
        upstream: the tasks for which its instances wait.
        status: active or suspended.
        enabled: whether instances are made at all.
        next: the next instance with a run; null without one in a year.
    """

    task: str
    type: str
    update: str | None
    program: str | None
    dataset: str | None
    cycle: str
    at: dict[str, Any]
    timezone: str
    upstream: tuple[UpstreamTask, ...]
    status: str
    enabled: bool
    next: NextInstance | None

    @property
    def app(self) -> str:
        return app_of(self.task)

    @property
    def kind(self) -> str:
        """Its type, with how it is updated."""
        return self.type + (f" ({self.update})" if self.update else "")

    @property
    def times(self) -> str:
        """Its times on one line: "every 2h, minute 10, from 08:00"."""
        pairs = ((key, value if isinstance(value, list) else [value]) for key, value in self.at.items())
        return ", ".join(f"{key} {' '.join(map(str, values))}" for key, values in pairs) or "-"

    @property
    def waits_for(self) -> str:
        """Its upstream tasks on one line; a source never has any."""
        return ", ".join(each.text for each in self.upstream) or ("no upstream" if self.program else "-")

    @property
    def switched(self) -> str:
        """Its status, or that it is disabled."""
        return self.status if self.enabled else "disabled"

    @property
    def next_scheduled(self) -> str | None:
        return None if self.next is None else self.next.scheduled

    @property
    def next_start(self) -> Instant | None:
        return None if self.next is None else self.next.start


TASKS = Listing(
    name="tasks",
    title="Tasks",
    help="List the deployed tasks, each with its next instance, by app and name.",
    item=CycleTask,
    query="tidegate.listings.queries.tasks:list_tasks",
    filters=(Filter("app", "app", "Only tasks of this app."),),
    columns=(
        Column("task", "schedule", 1),
        Column("kind", "text", 2, "type"),
        Column("cycle", "text"),
        Column("times", "text", 2, "at"),
        Column("waits_for", "text", 2, "upstream"),
        Column("switched", "text", 1, "status"),
        Column("next_scheduled", "id", 1, "next instance"),
        Column("next_start", "instant", 1, "starts"),
    ),
    order=("task",),
)
