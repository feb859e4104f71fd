"""The tables of the schedule store, and the indexes that keep an idle tick cheap. Migrations create them.

Time is an index: `schedules.due_at`, `schedules.generate_at` and `jobs.due_at` are set only while the row
waits for the clock, and `events.unrouted_since` only until the event is routed, so their partial indexes
hold just what is still to be done, however much history the tables keep.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, Table, Text, func, literal_column

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.model import App, Priority, Schedule
from tidegate.scheduler.model.event import EventKind
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import JOB_ID_HEX_DIGITS, SHORT_DIGITS, ByHand, JobState, LaunchPlan
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import Repairs
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.sql.columns import Coded, Instant, Json, Name, Span
from tidegate.scheduler.store.sql.metadata import metadata, partial_index

APPS_KEPT = 1_000
"""Decoded apps that a process caches; a tick reads the apps of its events."""

SCHEDULES_KEPT = 20_000
"""Decoded schedules that a process caches, a few kilobytes each: all schedules of most installations."""

NO_JOB = ""
"""The value of `deliveries.job` for a delivery without a job: keys may not be NULL."""

apps = Table(
    "apps",
    metadata,
    Column("name", Name, primary_key=True),
    Column("spec", Json(App, kept=APPS_KEPT), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("deployed_at", Instant, nullable=False),
    Column("project", Name, nullable=False),
    Column("namespace", Name, nullable=False),
    Column("digest", Text, nullable=False),
)

schedules = Table(
    "schedules",
    metadata,
    Column("ref", Name, primary_key=True),
    Column("app", Name, nullable=False),
    Column("spec", Json(Schedule, kept=SCHEDULES_KEPT), nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("active_since", Instant),
    Column("fires_after", Instant),
    Column("next_fire_at", Instant),
    Column("deployed_at", Instant, nullable=False),
    Column("clocks", Json(dict[str, datetime]), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("overridden", Boolean, nullable=False),
    Column("suspended_at", Instant),
    # Of `spec`, for lists.
    Column("program", Name, nullable=False),
    Column("trigger_kind", Text, nullable=False),
    Column("constraint_kinds", Text),  # sorted; NULL without a constraint
    # `next_fire_at` of a schedule that is active, or that takes events while it is suspended.
    Column("due_at", Instant),
    # `next_fire_at` of a task. A tick makes the instances of some tasks only, and must not read the others.
    Column("generate_at", Instant),
    Column("deadline_of", Name),  # its ref, of a schedule with a deadline
)
Index("ix_schedules_app", schedules.c.app, schedules.c.ref)
Index("ix_schedules_app_status", schedules.c.app, schedules.c.status)
Index("ix_schedules_kind", schedules.c.trigger_kind, schedules.c.app, schedules.c.ref)
partial_index(
    "ix_schedules_constraints",
    schedules.c.constraint_kinds,
    schedules.c.app,
    schedules.c.ref,
    where=schedules.c.constraint_kinds.is_not(None),
)
partial_index("ix_schedules_due", schedules.c.due_at, schedules.c.ref, where=schedules.c.due_at.is_not(None))
partial_index(
    "ix_schedules_generate",
    schedules.c.generate_at,
    schedules.c.ref,
    where=schedules.c.generate_at.is_not(None),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("event_key", Name, primary_key=True),
    Column("schedule", Name, primary_key=True),
    Column("leaf", Name, primary_key=True),
)
Index("ix_subscriptions_schedule", subscriptions.c.schedule)

events = Table(
    "events",
    metadata,
    Column("id", Name, primary_key=True),
    Column("kind", Coded(EventKind), nullable=False),
    Column("key", Name, nullable=False),
    Column("time", Instant, nullable=False),
    Column("arrived", Instant, nullable=False),
    Column("partition", Name),
    Column("bytes", BigInteger),
    Column("rows", BigInteger),
    Column("run_id", Name),
    Column("status", Text),
    Column("scheduled_for", Instant),
    Column("day", Text),
    Column("run", Json(UpstreamRun)),
    Column("own_job", Boolean, nullable=False),
    Column("expired", Boolean, nullable=False),
    Column("number", Integer, nullable=False),
    Column("first_at", Instant),
    Column("origin", Name),
    Column("repairs", Name),
    Column("provisional", Boolean, nullable=False),
    Column("only_for", Name),
    Column("detail", Text, nullable=False),
    Column("unrouted_since", Instant),  # `arrived` of an event that is not routed yet
)
Index("ix_events_arrived", events.c.arrived, events.c.id)
Index("ix_events_key", events.c.key, events.c.arrived, events.c.id)
# The newest event of a partition is at the end of its part.
partial_index(
    "ix_events_partition",
    events.c.key,
    events.c.partition,
    events.c.arrived,
    events.c.id,
    where=events.c.partition.is_not(None),
)
partial_index(
    "ix_events_unrouted", events.c.unrouted_since, events.c.id, where=events.c.unrouted_since.is_not(None)
)

# No foreign key to jobs: a delivery may be written before its job in one transaction.
deliveries = Table(
    "deliveries",
    metadata,
    Column("job", Name, primary_key=True),
    Column("event", Name, primary_key=True),
    Column("schedule", Name, primary_key=True),
    Column("leaf", Name, primary_key=True),
    Column("reason", Text),
    Column("at", Instant, nullable=False),
    # Of the event, for lists of the events of a schedule.
    Column("arrived", Instant, nullable=False),
)
Index("ix_deliveries_event", deliveries.c.event)
# They have all that deliveries are found and counted by: the table itself is not read for that.
_OF_SCHEDULE = (
    deliveries.c.schedule,
    deliveries.c.arrived,
    deliveries.c.event,
    deliveries.c.job,
    deliveries.c.reason,
)
Index("ix_deliveries_schedule", *_OF_SCHEDULE)
partial_index("ix_deliveries_discarded", *_OF_SCHEDULE, where=deliveries.c.reason.is_not(None))

OUTBOX = "outbox"
"""The queue of jobs whose launch is decided; the name of any other one is JSON."""

jobs = Table(
    "jobs",
    metadata,
    Column("id", Name, primary_key=True),
    Column("app", Name, nullable=False),
    Column("schedule", Name, nullable=False),
    Column("key", Name, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("state", Coded(JobState), nullable=False),
    Column("reason", Coded(Reason)),
    Column("priority", Coded(Priority), nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("first_event_at", Instant),
    Column("satisfied_at", Instant),
    Column("next_check_at", Instant),
    Column("blocked_on", Name),
    Column("needs", Json(tuple[tuple[str, int], ...]), nullable=False),
    Column("by_hand", Coded(ByHand)),
    Column("attempt", Integer, nullable=False),
    Column("offers", Integer, nullable=False),
    Column("offered_at", Instant),
    Column("rejected", Integer, nullable=False),
    Column("gave_back", Boolean, nullable=False),
    Column("run_id", Name),
    Column("launch", Json(LaunchPlan)),
    Column("resources", Json(tuple[str, ...]), nullable=False),
    Column("decided_at", Instant),
    Column("launched_at", Instant),
    Column("ended_at", Instant),
    Column("closed", Boolean, nullable=False),
    Column("retried", Integer, nullable=False),
    Column("retry_at", Instant),
    Column("raised", Boolean, nullable=False),
    Column("failed_run", Json(UpstreamRun)),
    Column("recovered", Boolean, nullable=False),
    Column("held_at", Instant),
    Column("held_for", Span, nullable=False),
    Column("instance", Json(Instance)),
    Column("maintenance", Json(Work)),
    Column("repairs", Json(Repairs)),
    Column("commit", Integer, nullable=False),
    Column("detail", Text, nullable=False),
    Column("late_at", Instant),
    # `next_check_at` of a job that waits, or that gave back its slots.
    Column("due_at", Instant),
    # Of an instance of a task that was not discarded: its backfill and its scheduled time, also unless it is
    # empty.
    Column("backfill", Integer),
    Column("scheduled_at", Instant),
    Column("real_at", Instant),
    # The schedule of a job that is late and has not ended.
    Column("late_of", Name),
    # Of a job in a queue (`sql.queues`), or in the outbox.
    Column("queue", Name),
    Column("launch_rank", Name),
    # Of a job that events still join: its schedule and its key (`store.wanted`).
    Column("open_for", Name),
)
partial_index(
    "ix_jobs_instances",
    jobs.c.schedule,
    jobs.c.backfill,
    jobs.c.scheduled_at,
    where=jobs.c.scheduled_at.is_not(None),
)
partial_index(
    "ix_jobs_real", jobs.c.schedule, jobs.c.backfill, jobs.c.real_at, where=jobs.c.real_at.is_not(None)
)
partial_index("ix_jobs_backfill", jobs.c.backfill, where=jobs.c.backfill > 0)
# The instances of a state in their order, for lists; with what narrows these.
partial_index(
    "ix_jobs_scheduled",
    jobs.c.state,
    jobs.c.scheduled_at,
    jobs.c.id,
    jobs.c.schedule,
    jobs.c.backfill,
    jobs.c.real_at,
    where=jobs.c.scheduled_at.is_not(None),
)
# It has all that the jobs are counted by, in order: the table itself is not read for that.
Index("ix_jobs_app_state", jobs.c.app, jobs.c.state, jobs.c.opened_at, jobs.c.id, jobs.c.reason)
Index("ix_jobs_schedule_state", jobs.c.schedule, jobs.c.state, jobs.c.opened_at)
Index("ix_jobs_state", jobs.c.state, jobs.c.opened_at)
# It has all that the jobs of a span of time are counted by.
partial_index(
    "ix_jobs_ended",
    jobs.c.state,
    jobs.c.ended_at,
    jobs.c.schedule,
    jobs.c.opened_at,
    jobs.c.launched_at,
    where=jobs.c.ended_at.is_not(None),
)
Index("ix_jobs_opened", jobs.c.opened_at, jobs.c.id)
partial_index("ix_jobs_reason", jobs.c.reason, jobs.c.opened_at, jobs.c.id, where=jobs.c.reason.is_not(None))
partial_index("ix_jobs_maintenance", jobs.c.opened_at, jobs.c.id, where=jobs.c.maintenance.is_not(None))
partial_index("ix_jobs_due", jobs.c.due_at, jobs.c.id, where=jobs.c.due_at.is_not(None))
partial_index("ix_jobs_open_for", jobs.c.open_for, where=jobs.c.open_for.is_not(None))
partial_index("ix_jobs_late", jobs.c.late_of, where=jobs.c.late_of.is_not(None))

# Its literals are those of the index: with parameters in their place neither database would use it.
SHORT_HASH = func.substr(
    jobs.c.id,
    func.length(jobs.c.id) - literal_column(str(JOB_ID_HEX_DIGITS - 1)),
    literal_column(str(SHORT_DIGITS)),
)
Index("ix_jobs_short", SHORT_HASH)

# The upstream instances of an instance, recorded when it left Not Run.
edges = Table(
    "edges",
    metadata,
    Column("upstream", Name, primary_key=True),
    Column("job", Name, primary_key=True),
)
Index("ix_edges_job", edges.c.job)

slots = Table(
    "slots",
    metadata,
    Column("resource", Name, primary_key=True),
    Column("holder", Name, primary_key=True),
)
Index("ix_slots_holder", slots.c.holder)

# What `rate` counts; it slides over a program's launches by time.
launches = Table(
    "launches",
    metadata,
    Column("holder", Name, primary_key=True),
    Column("program", Name, nullable=False),
    Column("at", Instant, nullable=False),
)
Index("ix_launches_program", launches.c.program, launches.c.at)
Index("ix_launches_at", launches.c.at, launches.c.holder)

gauges = Table(
    "gauges",
    metadata,
    Column("name", Name, primary_key=True),
    Column("value", Double, nullable=False),
    Column("reported_at", Instant, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", Name, primary_key=True),
    Column("program", Name, nullable=False),
    Column("job", Name),
    Column("attempt", Integer),
    Column("status", Coded(RunStatus), nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("ended_at", Instant),
)
Index("ix_runs_history", runs.c.program, runs.c.status, runs.c.ended_at, runs.c.run_id)
Index("ix_runs_started", runs.c.program, runs.c.status, runs.c.started_at)
Index("ix_runs_job", runs.c.job)
Index("ix_runs_status", runs.c.status, runs.c.seen_at)
Index("ix_runs_seen", runs.c.seen_at, runs.c.run_id)

claims = Table(
    "claims",
    metadata,
    Column("job", Name, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("run_id", Name, nullable=False),
    Column("at", Instant, nullable=False),
)

cursors = Table(
    "cursors",
    metadata,
    Column("name", Name, primary_key=True),
    # JSON text; a value may be null, which is not SQL's NULL.
    Column("value", Text, nullable=False),
)

# SQLite would hand out the number of a deleted last row again; AUTOINCREMENT forbids that.
