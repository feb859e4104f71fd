"""Which rows of the store are wanted: the filters of its queries.

Those of the engine's queries are keyword arguments that are declared once; one that is None is not given. A
page begins behind an item, so rows that come or go between two pages repeat and skip nothing else.
"""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import AlertState


def open_place(schedule: str, key: str) -> str:
    """Return the name of a key of a schedule: by it the jobs are found that an event of the key joins."""
    # No name has the separator.
    return f"{schedule}\x01{key}"


def open_for(job: Job) -> str | None:
    """Return the key of a schedule (`open_place`) whose events join a job; None for one that none joins."""
    joined = job.waiting and not job.closed and job.instance is None and job.maintenance is None
    return open_place(job.schedule, job.key) if joined else None


class JobsWanted(TypedDict, total=False):
    """Which jobs: those that match all given filters.

    Attributes:
        begins: how the id begins, or the hash in it.
        hashes: the first `SHORT_DIGITS` digits of that.
        blocked_on: resources that jobs lack which wait, or gave back their slots.
        repairs: only jobs that repair others.
        operations: only jobs of maintenance.
        open_for: keys of schedules (`open_place`) of jobs that wait and that events still join.
        since, until: the earliest and the latest `opened_at`.
        ended_since: the earliest `ended_at`.
        before: `opened_at` and id; only jobs that come before these.
        limit: only so many, the newest ones.
    """

    ids: Collection[str] | None
    begins: str | None
    hashes: Collection[str] | None
    apps: Collection[str] | None
    schedules: Collection[str] | None
    states: Collection[JobState] | None
    reason: Reason | None
    blocked_on: Collection[str] | None
    repairs: bool
    operations: bool
    open_for: Collection[str] | None
    since: datetime | None
    until: datetime | None
    ended_since: datetime | None
    before: tuple[datetime, str] | None
    limit: int | None


class JournalWanted(TypedDict, total=False):
    """Which entries of the journal: those that match all given filters.

    Attributes:
        since, to: the earliest and the latest instant.
        after, before: only entries whose number follows this one, or comes before it.
        until: the last number.
        first: only so many, the oldest ones.
        limit: only so many, the newest ones.
    """

    schedule: str | None
    job: str | None
    kinds: Collection[EntryKind] | None
    since: datetime | None
    to: datetime | None
    after: int | None
    before: int | None
    until: int | None
    first: int | None
    limit: int | None


class OperationRunsWanted(TypedDict, total=False):
    """Which runs of operations: those that match all given filters.

    Attributes:
        jobs: those that each run is of.
        running: only those that have not ended.
        before: start and job; only runs that come before these.
        limit: only so many, the newest ones.
    """

    jobs: Collection[str] | None
    tables: Collection[str] | None
    running: bool
    started_since: datetime | None
    before: tuple[datetime, str] | None
    limit: int | None


class AlertsWanted(TypedDict, total=False):
    """Which alerts: those that match all given filters.

    Attributes:
        app: of the subject.
        before: `made_at` and id of the alert behind which the list begins.
        limit: only so many, the newest ones.
    """

    ids: Collection[str] | None
    states: Collection[AlertState] | None
    channel: str | None
    app: str | None
    before: tuple[datetime, str] | None
    limit: int | None


class SchedulesWanted(TypedDict, total=False):
    """Which schedules and tasks: those that match all given filters.

    Attributes:
        kind: of the root of the trigger, `task` for tasks.
        deadline: only those that have one.
        after: only those whose ref follows this one.
        limit: only so many, the first ones.
    """

    refs: Collection[str] | None
    app: str | None
    program: str | None
    kind: str | None
    status: Status | None
    deadline: bool
    after: str | None
    limit: int | None


class Outcome(StrEnum):
    """What became of an event in a schedule: a column of the ledger."""

    SUCCEEDED = "succeeded"
    RUNNING = "running"
    FAILED = "failed"
    PENDING = "pending"
    DISCARDED = "discarded"


class EventsWanted(Value, kw_only=True):
    """Which events are listed: those that match all given filters.

    `schedule`, `job`, `outcome` and `reason` are of one delivery of the event. An event has an outcome as the
    ledger counts it: that of its job unless it has left the job. It has none in a job that was pruned.

    Attributes:
        key: the whole key.
        key_prefix: how the key begins.
        apps: of the schedule of the delivery, or where no filter is of a delivery, of the key.
        since: the earliest arrival.
        until: after the latest arrival.
        before: arrival and id of the event behind which the page begins.
    """

    key: str | None = None
    key_prefix: str = ""
    partition: str | None = None
    schedule: str | None = None
    job: str | None = None
    outcome: Outcome | None = None
    reason: Reason | None = None
    apps: Collection[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: tuple[datetime, str] | None = None

    @property
    def has_outcome(self) -> bool:
        """Whether a filter is of what became of the event."""
        return self.outcome is not None or self.reason is not None

    @property
    def of_delivery(self) -> bool:
        """Whether a filter is of a delivery."""
        return self.has_outcome or self.schedule is not None or self.job is not None


class InstancesWanted(TypedDict, total=False):
    """Which instances are listed: those that match all given filters; discarded ones never do.

    Attributes:
        schedules: of tasks and of schedules.
        backfill: only those of the backfill of this number.
        of_none: only those of no backfill.
        first, last: the earliest and the latest scheduled time.
        empty, real: only empty runs of off days; only the others.
        after, before: scheduled time and id; only instances that follow these, or come before them.
        oldest, newest: only so many, the first ones or the last ones.
    """

    schedules: Collection[str] | None
    backfill: int | None
    of_none: bool
    first: datetime | None
    last: datetime | None
    empty: bool
    real: bool
    after: tuple[datetime, str] | None
    before: tuple[datetime, str] | None
    oldest: int | None
    newest: int | None


class LateWanted(Value, kw_only=True):
    """Which late periods are listed.

    Attributes:
        apps: only those of these apps; None: all.
        dataset: only those of this one, "app/name".
        now: only those that have not landed yet.
    """

    apps: tuple[str, ...] | None = None
    dataset: str | None = None
    now: bool = False
