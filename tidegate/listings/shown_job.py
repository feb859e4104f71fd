"""One job in full, as `tidegate jobs show --format json`, the server and the board show it."""

from typing import Any

import msgspec

from tidegate.domain.launch_input import MissingMember, early_text
from tidegate.domain.value import Value
from tidegate.listings.events import CollectedEvent
from tidegate.listings.jobs import Job
from tidegate.listings.listing import Instant
from tidegate.listings.queries.jobs import public_job
from tidegate.scheduler.explain.history import NEWEST_MAX, Attempt, attempts, history_of, published_nothing
from tidegate.scheduler.model import job as engine
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.store.listing_reader import ListingReader


class Launch(Value, kw_only=True):
    """The input of a job's run, fixed when its launch was decided.

    Attributes:
        program: which it runs.
        partitions: that it writes; empty for whole datasets.
        manifest: the partition keys that it was launched for, by dataset.
        upstream_runs: ids of the runs that it was launched for.
        args: the arguments of the program.
        scheduled_time: the instant of the cron, if a cron fired.
        business_dates: those that it writes for, sorted.
        now: when it was decided; every attempt takes it for the present.
        provisional: the members of the trigger that were missing, since a wait was over; empty if none was.
        repairs: of a repair: the job whose result it replaces, and whose events it has too.
        early: in one line what was missing; "" for nothing.
    """

    program: str
    partitions: tuple[str, ...]
    manifest: dict[str, tuple[str, ...]]
    upstream_runs: tuple[str, ...]
    args: dict[str, Any]
    scheduled_time: Instant | None
    business_dates: tuple[str, ...]
    now: Instant | None
    provisional: tuple[MissingMember, ...] = ()
    repairs: str | None = None
    early: str = ""


class OperationOfJob(Value, kw_only=True):
    """What makes a job an operation on a table.

    Attributes:
        table: "catalog.namespace.table", or "app/dataset".
        operation: its name.
        policy: "app/policy".
        by_hand: a person asked for it.
        probe: it is the one attempt after a throttle.
        forced: its thresholds did not hold, but `at_latest` had come.
        excluded: keys of the partitions that it leaves out.
        then: by hand: the operations that follow when it has ended, each with its policy.
    """

    table: str
    operation: str
    policy: str
    by_hand: bool
    probe: bool
    forced: bool
    excluded: tuple[str, ...]
    then: tuple[tuple[str, str], ...]


class Collected(Value, kw_only=True):
    """An event that a job has collected.

    Attributes:
        event: which.
        leaf: the member of the trigger that it was delivered to: member numbers from 0 joined by ".".
    """

    event: CollectedEvent
    leaf: str


class JournalLine(Value, kw_only=True):
    """An entry of the journal.

    Attributes:
        at: when the engine did or observed it.
        kind: what it is about, such as "job-opened".
        schedule: "app/name", if it is about a schedule.
        job: the job, if it is about one.
        run_id: the run, if it is about one.
        event: the event, if it is about one.
        reason: the reason code, if it has one.
        data: more of it, by kind.
    """

    at: Instant
    kind: str
    schedule: str | None
    job: str | None
    run_id: str | None
    event: str | None
    reason: str | None
    data: dict[str, Any]


class ShownJob(Value, kw_only=True):
    """A job with everything that the store knows of it.

    Attributes:
        job: as lists have it.
        decided_at: when its launch was decided.
        retry_at: when its next attempt may start.
        by_hand: how a person triggered it while it waited: trigger or force.
        recovered: another process has finished what its run had promised to publish.
        launch: the input of its run; null before its launch is decided.
        work: what makes it an operation on a table; null for any other job.
        operation_run: what the run of an operation has come to; null before it.
        attempts: the run of each, and one that waits for the end of a pause.
        published_nothing: all that its run has published has 0 rows.
        events: how many it has collected.
        collected: the newest of them, oldest first.
        history: its newest entries of the journal, oldest first.
    """

    job: Job
    decided_at: Instant | None
    retry_at: Instant | None
    by_hand: str | None
    recovered: bool
    launch: Launch | None
    work: OperationOfJob | None
    operation_run: OperationRun | None
    attempts: tuple[Attempt, ...]
    published_nothing: bool
    events: int
    collected: tuple[Collected, ...]
    history: tuple[JournalLine, ...]


def shown_job(reader: ListingReader, job: engine.Job, limit: int | None = NEWEST_MAX) -> ShownJob:
    """Return a job in full.

    Args:
        limit: how many of its events and entries; None for all.
    """
    events = reader.count_deliveries(job.id)
    found = {
        "job": public_job(job, reader),
        **{name: getattr(job, name) for name in ("decided_at", "retry_at", "by_hand", "recovered")},
        "launch": None if job.launch is None else _launch_fields(job.launch),
        "work": job.maintenance,
        "operation_run": next(iter(reader.operation_runs(jobs=[job.id])), None),
        "attempts": tuple(attempts(reader, job)),
        "published_nothing": published_nothing(reader, job),
        "events": events,
        "collected": reader.newest_deliveries(job.id, events if limit is None else limit),
        "history": history_of(reader, job, limit),
    }
    return msgspec.convert(found, ShownJob, from_attributes=True)


def _launch_fields(launch: engine.LaunchPlan) -> dict[str, Any]:
    early = early_text(launch.provisional)
    return {**_fields(launch), "business_dates": launch.dates, "early": early}


def _fields(value: Value) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}
