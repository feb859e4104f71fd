"""The job view: everything that a decision about one job depends on.

The shell loads it, the pure core reads it. Nothing else can influence a decision, so a decision is
repeatable in a scenario, in `why` and in a replay.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from tidegate.domain.model import App, Schedule
from tidegate.domain.value import Value
from tidegate.scheduler.decision.view.partitions import partition_resources, partitions_awaited
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.event import Delivery, Report
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.model.records.tally import Tally
from tidegate.scheduler.model.run import (
    ALL_RUNS,
    Gauge,
    ProgramHistory,
    group_resource,
    keys_of_backfill,
    program_resource,
)

CountedKeys = Callable[[str], Collection[str]]
"""Returns the keys that add to the amount at a place in the kept counts of a job (`TalliedKeys`)."""


class Leaving(Value, kw_only=True):
    """The events that leave a job if its trigger goes on waiting.

    Attributes:
        deliveries: they are too old for their `collect_within`, in order of arrival.
        tally: the counts without them.
        next_at: when the next event leaves, if none arrives.
        holds_at: when the trigger will hold if no event arrives, and none leaves before; None if it will not.
    """

    deliveries: tuple[Delivery, ...]
    tally: Tally
    next_at: datetime | None
    holds_at: datetime | None

    @property
    def first(self) -> datetime | None:
        """The arrival of the first event that is left."""
        return min((count.first for count in self.tally.leaves.values()), default=None)


class JobView(Value, kw_only=True):
    """One waiting job with its schedule and the numbers that its constraints need.

    Attributes:
        app: the deployed app, with the partition schemes of its datasets.
        deliveries: the collected events of the job, in order of arrival.
        reports: its collected events, if they take the place of the deliveries in its launch plan.
        tally: the counts of these events, if they are not loaded: `deliveries` is empty then.
        leaving: beside a tally: what leaves the job, if its trigger drops events and does not hold.
        counted_keys: beside a tally that verdicts are explained by.
        slots: number of taken slots of each resource in `resources_of`.
        history: the last runs of the schedule's program, if a constraint depends on them.
        launches: launch instants of the schedule's program, oldest first, at least those within the
            longest `per` of its rates.
        gauges: the reported gauges that its constraints name, by name.
        held: whether the schedule is suspended and holds its jobs.
        obstacle: why the run of an existing job cannot be created now; None if nothing is noted.
        upstream: of an instance of a task that is Not Run: what each of its dependencies has picked.
        keys: of its schedule, about which it is, while jobs of a backfill run for some of them.
    """

    app: App
    schedule: Schedule
    job: Job
    deliveries: tuple[Delivery, ...] = ()
    reports: tuple[Report, ...] | None = None
    tally: Tally | None = None
    leaving: Leaving | None = None
    counted_keys: CountedKeys | None = None
    slots: Mapping[str, int] = {}
    history: ProgramHistory = ProgramHistory()
    launches: tuple[datetime, ...] = ()
    gauges: Mapping[str, Gauge] = {}
    held: bool = False
    obstacle: Obstacle | None = None
    upstream: tuple[Upstream, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def events(self) -> int:
        """The number of distinct events of the job; one that several leaves collect counts once."""
        if self.tally is not None:
            return self.tally.events
        return len({delivery.event.id for delivery in self.deliveries})

    @property
    def collected(self) -> int:
        """The number of deliveries of the job."""
        return len(self.deliveries) if self.tally is None else self.tally.deliveries

    @property
    def collects_for(self) -> str:
        """The `for_each` key for which the job collects, "" without `for_each`, also where it has a date."""
        return "" if self.schedule.for_each is None else self.job.key

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources of which the job takes a slot when it is launched."""
        return resources_of_job(self.app, self.schedule, self.job)

    @property
    def program_resource(self) -> str:
        """The resource of the schedule's program."""
        return program_resource(f"{self.app.name}/{self.schedule.program}")


def groups_of_program(app: App, program: str) -> tuple[str, ...]:
    """Return every group that a schedule of this program names, sorted (rule 21)."""
    return tuple(
        sorted(
            {
                group
                for schedule in app.schedules.values()
                if schedule.program == program
                for group in groups_of(schedule)
            }
        )
    )


def groups_of(schedule: Schedule) -> tuple[str, ...]:
    """Return the groups that a schedule's own constraints name, sorted."""
    named = {constraint.group_taken for constraint in schedule.constraints}
    return tuple(sorted(group for group in named if group is not None))


def resources_of(app_name: str, schedule: Schedule) -> tuple[str, ...]:
    """Return the resources of which a job of this schedule takes a slot when it is launched."""
    program = program_resource(f"{app_name}/{schedule.program}")
    return (ALL_RUNS, program, *(group_resource(group) for group in groups_of(schedule)))


def resources_of_job(app: App, schedule: Schedule, job: Job) -> tuple[str, ...]:
    """Return the resources of which a job takes a slot at its launch; an instance takes its partitions."""
    own = resources_of(app.name, schedule)
    return own if job.instance is None else (*own, *partition_resources(app, schedule, job.instance))


def resources_read(app: App, schedule: Schedule, job: Job) -> tuple[str, ...]:
    """Return the resources whose slots decide about a job: what it takes, and the partitions it waits for.

    That of the key "" says whether a job of a backfill runs for any key of the schedule.
    """
    own = resources_of_job(app, schedule, job)
    if job.instance is None:
        return (*own, *keys_of_backfill(job.schedule, [""]))
    return (*own, *partitions_awaited(app, schedule, job.instance))
