"""*Jobs*: each firing of a schedule, instance of a task and operation on a table, with what it waits for."""

from tidegate.domain.value import Value
from tidegate.listings.listing import Action, Column, Filter, Instant, Listing

BY_HAND = "tidegate.scheduler.commands.by_hand"
DEAD_LETTER = "tidegate.scheduler.launch.dead_letter"


class InstanceOfJob(Value, kw_only=True):
    """What makes a job an instance of a task.

    Attributes:
        scheduled: its scheduled time, as a key in the task's zone.
        start: its start time, before which it does not run.
        business_date: for which it writes.
        backfill: the number of its backfill; null for none.
    """

    scheduled: str
    start: Instant
    business_date: str
    backfill: int | None


class Job(Value, kw_only=True):
    """One firing of a schedule, one instance of a task, or one operation on a table.

    Attributes:
        id: also the beginning of it names the job in commands.
        app: of the schedule.
        schedule: "app/name", of an operation "app/policy:name".
        key: the `for_each` key, the scheduled time of an instance, or table and operation; "" without one.
        state: PENDING_TRIGGER, PENDING_CONSTRAINT, PENDING_LAUNCH, LAUNCHED, SUCCEEDED, FAILED, PAUSED or
            DISCARDED.
        run_state: how far its run is: queued, starting or running; null without a run that has not ended.
        reason: the code of why it waits, or was discarded or failed; `tidegate explain` says what it means.
        detail: more of that, for people; of a queued run the place that it waits for.
        priority: its place among ready jobs; null: behind every other job, of a backfill without a priority.
        attempt: the number of the attempt, from 1.
        opened_at: when it was opened.
        first_event_at: when its first event arrived.
        satisfied_at: when its trigger was satisfied.
        next_check_at: when it is looked at again; null if only an event or a released slot leads to that.
        discarded_at: of a waiting job: when its timeout discards it; null for never, and while none counts.
        blocked_on: the resource that it lacks a slot of, or whose report or end makes it due.
        held_at: since when its suspended schedule holds it.
        launched_at: when its run was observed.
        ended_at: when it ended.
        late_at: when it was noted that it has missed its deadline.
        run_id: the run of its newest attempt.
        commit: the number of its commit id: a rerun of an instance publishes under a new one.
        provisional: whether it was launched without members of its trigger, since a wait was over.
        repairs: of a repair: the job whose result it replaces, and whose events it sees too; else null.
        partitions: that its run writes; empty before its launch is decided, and for whole datasets.
        instance: what makes it an instance of a task; null for any other job.
        operation: of a job on a table; null for any other job.
    """

    id: str
    app: str
    schedule: str
    key: str
    state: str
    run_state: str | None
    reason: str | None
    detail: str
    priority: str | None
    attempt: int
    opened_at: Instant
    first_event_at: Instant | None
    satisfied_at: Instant | None
    next_check_at: Instant | None
    discarded_at: Instant | None
    blocked_on: str | None
    held_at: Instant | None
    launched_at: Instant | None
    ended_at: Instant | None
    late_at: Instant | None
    run_id: str | None
    commit: int
    provisional: bool
    repairs: str | None
    partitions: tuple[str, ...]
    instance: InstanceOfJob | None
    operation: str | None


JOBS = Listing(
    name="jobs",
    title="Jobs",
    help="List jobs, the newest first.",
    item=Job,
    query="tidegate.listings.queries.jobs:list_jobs",
    worst_first="state",
    filters=(
        Filter("app", "app", "Only jobs of this app."),
        Filter("schedule", "schedule", 'Only jobs of "app/schedule", or of a policy: "app/policy:NAME".'),
        Filter(
            "state",
            "state",
            "Only jobs in this state; may be repeated.",
            of="tidegate.scheduler.model.job:JobState",
        ),
        Filter(
            "run_state",
            "state",
            "Only jobs whose run is queued (or about to be), starting or running; may be repeated.",
            of="tidegate.scheduler.model.run:RunState",
        ),
        Filter("reason", "reason", "Only jobs with this reason code, such as W-WINDOW."),
        Filter("since", "instant", "Only jobs that were opened at this instant or later."),
        Filter("ended", "instant", "Only jobs that ended at this instant or later."),
        Filter("maintenance", "flag", "Only operations on tables; or, if it is false, none of them."),
    ),
    columns=(
        Column("id", "job", 1, "job"),
        Column("schedule", "subject", 0, "what"),
        Column("schedule", "schedule", 3),
        Column("key", "id", 3),
        Column("state", "state", 1),
        Column("run_state", "text", 3, "run state"),
        Column("opened_at", "since", 0, "age"),
        Column("reason", "waits", 0, "waits for"),
        Column("reason", "reason", 3),
        Column("next_check_at", "instant", 3, "looked at"),
        Column("discarded_at", "instant", 3, "discarded at"),
        Column("opened_at", "instant", 3),
        Column("ended_at", "instant", 3),
        Column("attempt", "number", 3),
        Column("provisional", "flag", 3),
        Column("repairs", "job", 3),
        Column("detail", "text", 3, "because"),
        Column("run_id", "run", 3, "run"),
    ),
    order=("-opened_at", "-id"),
    actions=(
        Action(
            "force",
            f"{BY_HAND}.force:force",
            f"{BY_HAND}.force:check_force",
            "Starts it at once, past its trigger, window and other constraints, but not past slots.",
        ),
        Action(
            "cancel",
            f"{BY_HAND}.manual:cancel",
            f"{BY_HAND}.manual:check_cancel",
            "Discards it before it has a run.",
        ),
        Action(
            "retry",
            f"{DEAD_LETTER}:retry",
            f"{DEAD_LETTER}:check_retry",
            "Runs it again with the same input, as a further attempt.",
        ),
        Action(
            "requeue",
            f"{DEAD_LETTER}:requeue",
            f"{DEAD_LETTER}:check_requeue",
            "Queues a dead letter again: its constraints decide when it starts.",
        ),
    ),
)
