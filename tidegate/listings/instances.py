"""*Instances* of cycle tasks: what runs, or has run, for a scheduled time."""

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Action, Column, Filter, Instant, Listing

RUNNING_DAY = object()
"""As a `day`: the one that runs now, in the zone of each task. Only commands ask for it."""


class TaskInstance(Value, kw_only=True):
    """An instance of a cycle task.

    Attributes:
        task: "app/name".
        scheduled: its scheduled time, as a key in the task's zone: 2026-03-10 or 2026-03-10-10:00.
        scheduled_at: that as an instant.
        start: its start time, before which it does not run.
        business_date: for which it writes, as a key in the task's zone.
        kind: periodic, outside or backfill: how it came to be.
        backfill: the number of its backfill; null for none.
        lot: its lot in that backfill, from 1; null for none.
        status: not_run, waiting, running, successful, failed or paused; absent after it was discarded.
        since: when it got that status; null if that is not known.
        reason: the code of why it waits or has failed; null for any other one.
        attempt: the number of its attempts; 0 until its first launch.
        empty: on an off day: it runs nothing and is successful at its start time.
        marked: a person has marked it as successful.
        notes: what is special about it, in words: empty, marked, codes of its dependencies, outside or its
            backfill.
        job: its id as a job.
        run: the run of its newest attempt.
        detail: more of the reason, for people.
    """

    task: str
    scheduled: str
    scheduled_at: Instant
    start: Instant
    business_date: str
    kind: str
    backfill: int | None
    lot: int | None
    status: str
    since: Instant | None
    reason: str | None
    attempt: int
    empty: bool
    marked: bool
    notes: tuple[str, ...]
    job: str
    run: str | None
    detail: str

    @property
    def app(self) -> str:
        return app_of(self.task)


COMMANDS = "tidegate.scheduler.commands.tasks.instances"


def _action(name: str, help: str, action: str = "", *, downstream: bool = False) -> Action:
    given = (("action", action or name), ("downstream", downstream))
    return Action(name, f"{COMMANDS}:act_on_job", f"{COMMANDS}:check_act", help, given=given)


INSTANCES = Listing(
    name="instances",
    title="Instances",
    help="List instances of tasks by scheduled time; with a day those of backfills are left out.",
    item=TaskInstance,
    query="tidegate.listings.queries.instances:list_instances",
    filters=(
        Filter("app", "app", "Only instances of this app."),
        Filter("task", "task", 'Only of this task: "app/task", "app.task", or its name if one app has it.'),
        Filter("day", "day", "Scheduled on this day of the task's zone: 2026-03-10."),
        Filter(
            "status",
            "state",
            "Only in this status, of any day; may be repeated, or several with commas.",
            of="tidegate.listings.queries.instances:Listed",
        ),
        Filter("backfill", "number", "Only those of the backfill of this number."),
        Filter("empty", "flag", "Only empty runs of off days, or only the others."),
    ),
    columns=(
        Column("task", "schedule", 1),
        Column("scheduled", "id", 1),
        Column("business_date", "id"),
        Column("status", "status", 1),
        Column("attempt", "number"),
        Column("since", "instant", 1),
        Column("reason", "reason", 1),
        Column("notes", "list"),
        Column("job", "job", 3),
    ),
    order=("scheduled_at", "job"),
    actions=(
        _action("mark_successful", "Lets it count as successful without a run: its consumers go on."),
        _action("pause", "Starts it only after it is resumed; its run is stopped."),
        _action("resume", "Lets it run again."),
        _action("rerun", "Runs it again in a new attempt, which publishes under a new commit id."),
        _action(
            "rerun_downstream",
            "Runs it again, and after it all instances that have read from it.",
            "rerun",
            downstream=True,
        ),
    ),
)
