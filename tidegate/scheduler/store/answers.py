"""What the store answers beside values of the engine: counts, sizes, and rows of lists."""

from collections.abc import Collection
from datetime import datetime

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import AlertKind, AlertState
from tidegate.scheduler.model.run import RunStatus

Position = tuple[datetime, str]
"""The instant and the id of the last row of a page."""

WHOLE = ""
"""The key of the one partition of a dataset without partitions, whose events have none."""


class LedgerRow(Value, kw_only=True):
    """The events of one schedule by outcome; an event counts once for each job that it was delivered to.

    Attributes:
        succeeded: events of jobs whose run succeeded.
        running: events of jobs whose run has not ended.
        failed: events of jobs whose last run failed or was cancelled, by reason code.
        pending: events of jobs that wait, also for a further attempt, or whose run does not exist yet.
        discarded: events that no run was launched with, by reason code.
    """

    schedule: str
    succeeded: int = 0
    running: int = 0
    failed: dict[str, int] = {}
    pending: int = 0
    discarded: dict[str, int] = {}

    @property
    def consumed(self) -> int:
        """The events that a run was launched with, however it ended."""
        return self.succeeded + self.running + sum(self.failed.values())

    @property
    def landed(self) -> int:
        """All events of the schedule."""
        return self.consumed + self.pending + sum(self.discarded.values())


class Commitment(Value, kw_only=True):
    """A publish that is not finished or withheld, or a run that may still publish.

    Attributes:
        commit: commit id.
        names: the datasets that it writes, "app/name", and the watermarks that it moves,
            "app/program <- app/dataset".
        unfinished: its commit sequence exists; otherwise it is withheld, or a run is open.
        withheld: a failed check withholds it.
    """

    commit: str
    names: tuple[str, ...]
    unfinished: bool
    withheld: bool = False

    def touches(self, refs: Collection[str]) -> bool:
        """Return whether it writes any of these datasets, or moves a watermark of one or of a program."""
        return any(part in refs for name in self.names for part in name.split(" <- "))


class AppHeader(Value, kw_only=True):
    """A deployed app without its specification, which is large; see `DeployedApp`."""

    name: str
    revision: int
    deployed_at: datetime
    project: str
    namespace: str
    digest: str


class Numbered(Value, kw_only=True):
    """An entry of the journal with its number."""

    number: int
    entry: Entry


class TableSize(Value, kw_only=True):
    """How large a table of the store is.

    Attributes:
        bytes: with its indexes; None where the database does not say.
        oldest: the oldest instant in it; None for an empty table, or one without instants.
    """

    table: str
    rows: int
    bytes: int | None
    oldest: datetime | None


class JobCount(Value, kw_only=True):
    """How many jobs of an app are in a state for a reason.

    Attributes:
        oldest: when the first of them was opened.
    """

    app: str
    state: JobState
    reason: Reason | None
    jobs: int
    oldest: datetime


class LaneCount(Value, kw_only=True):
    """How many jobs of a schedule are in a state, of those that a span of time has something of.

    Attributes:
        schedule: "app/name", of operations "app/policy:name".
        state: None for a schedule whose next fire is in the span.
        jobs: how many.
        late: how many of these have missed their deadline and have not ended.
        held: how many of these wait as their schedule is suspended.
        queued: how many of these have a launch that is decided, or a run that has not begun.
    """

    schedule: str
    state: JobState | None = None
    jobs: int = 0
    late: int = 0
    held: int = 0
    queued: int = 0


class OpenWork(Value, kw_only=True):
    """Unfinished jobs that are alike.

    Attributes:
        state: of the jobs.
        reason: why they wait.
        run: how far their run is; None without one.
        operation: whether they are operations on tables.
        app: of the jobs.
        begun_hours: how many hours ago they were launched, or were held, `HOURS` for longer; None for what
            was neither.
        opened_hours: how many hours ago they were opened, likewise.
        jobs: how many.
        oldest: when the first of them was opened.
        begun: when the first of them was launched, or its run started.
    """

    state: JobState
    reason: Reason | None
    run: RunStatus | None
    operation: bool
    app: str
    begun_hours: int | None
    opened_hours: int
    jobs: int
    oldest: datetime
    begun: datetime | None


class EndedWork(Value, kw_only=True):
    """Jobs that ended alike within the last `HOURS` hours.

    Attributes:
        operation: whether they were operations on tables.
        ended_hours: how many hours ago they ended.
        begun_hours, opened_hours: see `OpenWork`.
        jobs: how many.
    """

    state: JobState
    operation: bool
    ended_hours: int
    begun_hours: int | None
    opened_hours: int
    jobs: int


HOURS = 24
"""So many hours are counted one by one."""


class Awaiting(Value, kw_only=True):
    """Jobs that wait for one thing.

    Attributes:
        reason: why they wait.
        blocked_on: the resource that they lack, or whose report or end makes them due; of an upstream
            instance the beginning of its id, which names the task. None for time and events.
        schedule: of the jobs; "" where `blocked_on` says what they wait for.
        operation: whether they are operations on tables.
        paused: whether a person has paused them.
        jobs: how many.
        oldest: when the first of them was opened.
        first_check, last_check: the earliest and the latest instant at which time alone may change it.
        first_job, last_job: the ids of two of them; of one the same.
        first_blocked: the whole name of one of the resources.
    """

    reason: Reason | None
    blocked_on: str | None
    schedule: str
    operation: bool
    paused: bool
    jobs: int
    oldest: datetime
    first_check: datetime | None
    last_check: datetime | None
    first_job: str
    last_job: str
    first_blocked: str | None


def counts_order(count: JobCount) -> tuple[str, str, str]:
    """Return the sort key of counts."""
    return count.app, count.state, count.reason or ""


class AlertCount(Value, kw_only=True):
    """How many alerts of a channel are in a state."""

    channel: str
    kind: AlertKind
    state: AlertState
    alerts: int


class Count(Value, kw_only=True):
    """How much of an app there is with one label.

    Attributes:
        label: a status, a state, a kind, or "".
        reason: of jobs, a reason code or "".
    """

    app: str
    label: str = ""
    reason: str = ""
    number: int


class Counts(Value, kw_only=True):
    """What the store has, each by app, then label. What retention has pruned is not counted.

    Attributes:
        schedules: by status, with tasks.
        runs: of programs, by status, with those that Tidegate did not start.
        launches: decided launches of programs.
        events: by kind, the first word of their key.
        finished_jobs: by state and reason.
        outcomes: events of the ledger, by outcome and reason; this includes the pruned ones.
        dead_letters: jobs for which no run could be created.
        bytes: the size of the database; None for a store without a database.
    """

    schedules: tuple[Count, ...]
    runs: tuple[Count, ...]
    launches: tuple[Count, ...]
    events: tuple[Count, ...]
    finished_jobs: tuple[Count, ...]
    outcomes: tuple[Count, ...]
    dead_letters: tuple[Count, ...]
    bytes: int | None = None


class Damage(Value, kw_only=True):
    """A part of the store that is damaged.

    Attributes:
        table: its table; "" for the database itself.
        key: the key of a row; "" for all of it.
        what: what is wrong.
    """

    table: str = ""
    key: str = ""
    what: str


def of_event_key(key: str) -> tuple[str, str]:
    """Return app and kind in the key of an event: "flights" and "fire" of "fire:flights/daily:leaf"."""
    kind, _, rest = key.partition(":")
    return app_of(rest), kind


class Landing(Value, kw_only=True):
    """What landed last of a dataset.

    Attributes:
        dataset: "app/name".
        partition: its key; `WHOLE` for a dataset without partitions.
    """

    dataset: str
    partition: str
    at: datetime


class NewestJob(Value, kw_only=True):
    """The newest job of a schedule in a state, by when it was opened."""

    schedule: str
    state: JobState
    key: str
    opened_at: datetime
    ended_at: datetime | None


class PartitionState(Value, kw_only=True):
    """A partition that has landed, by its newest event.

    Attributes:
        event: the id of that event.
        at: when it arrived.
        published: a run of ours wrote it.
        consumed: a job that took the event has succeeded, or is no longer kept.
        failed: a job that took the event has failed.
    """

    key: str
    event: str
    at: datetime
    rows: int | None = None
    bytes: int | None = None
    published: bool = False
    consumed: bool = False
    failed: bool = False
