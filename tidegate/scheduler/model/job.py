"""The job: one firing of one schedule, waiting or launched, and its states.

    PENDING_TRIGGER -> PENDING_CONSTRAINT -> PENDING_LAUNCH -> LAUNCHED -> SUCCEEDED
          |                   |                   |               |----> FAILED, from where the engine
          |                   |                   |                      or a person may start it again
          |                   |                   |                      (SUCCEEDED if recovery publishes it,
          |                   |                   |                      or a person releases it)
          |                   |                   |----> FAILED (F-LAUNCH: no run could be created)
          +-------------------+-------------------+----> DISCARDED, with a reason
          +-------------------+-------------------+----> PAUSED, also from LAUNCHED: instances of tasks only

PENDING_LAUNCH is the outbox: the decision is durable and the slots are taken, but no run is
known yet. LAUNCHED means that a run with the job's tag exists, not only that one was requested.
A job's id is made from the schedule, the key and the event that opened it, so a second try
after a crash opens the same job.
"""

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from tidegate.domain.launch_input import Fired, MissingMember, PartitionInput, UpstreamRun
from tidegate.domain.model import Priority
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import Repairs

JOB_ID_HEX_DIGITS = 12
"""Length of the hashed part of a job id: 48 bits, without collisions for millions of jobs of a schedule."""

SHORT_DIGITS = 8
"""So many digits of its hash are shown for a job, and more where another job has the same."""


class JobState(StrEnum):
    """The state of a job."""

    PENDING_TRIGGER = "PENDING_TRIGGER"
    PENDING_CONSTRAINT = "PENDING_CONSTRAINT"
    PENDING_LAUNCH = "PENDING_LAUNCH"
    LAUNCHED = "LAUNCHED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    PAUSED = "PAUSED"
    DISCARDED = "DISCARDED"


WAITING = frozenset({JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT})
"""States in which events still join the job (rule 1)."""

ACTIVE = frozenset({JobState.PENDING_LAUNCH, JobState.LAUNCHED})
"""States in which the job holds its slots, unless it gave them back (`Job.gave_back`)."""

WRITING = frozenset({JobState.PENDING_CONSTRAINT, JobState.PENDING_LAUNCH, JobState.LAUNCHED})
"""States of jobs whose partitions maintenance leaves alone (docs/maintenance.md)."""

FINISHED = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.DISCARDED})
UNFINISHED = tuple(state for state in JobState if state not in FINISHED)

_FROM_WAITING = frozenset(JobState) - {JobState.LAUNCHED}

TRANSITIONS: dict[JobState, frozenset[JobState]] = {
    JobState.PENDING_TRIGGER: _FROM_WAITING,
    JobState.PENDING_CONSTRAINT: _FROM_WAITING,
    JobState.PENDING_LAUNCH: frozenset(
        {
            JobState.PENDING_TRIGGER,
            JobState.PENDING_LAUNCH,
            JobState.LAUNCHED,
            JobState.SUCCEEDED,
            JobState.FAILED,
            JobState.PAUSED,
            JobState.DISCARDED,
        }
    ),
    JobState.LAUNCHED: frozenset(
        {
            JobState.PENDING_TRIGGER,
            JobState.PENDING_LAUNCH,
            JobState.LAUNCHED,
            JobState.SUCCEEDED,
            JobState.FAILED,
            JobState.PAUSED,
            JobState.DISCARDED,
        }
    ),
    JobState.SUCCEEDED: frozenset({JobState.PENDING_TRIGGER}),
    JobState.FAILED: frozenset({JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT, JobState.SUCCEEDED}),
    JobState.PAUSED: frozenset(
        {JobState.PENDING_TRIGGER, JobState.SUCCEEDED, JobState.FAILED, JobState.DISCARDED}
    ),
    JobState.DISCARDED: frozenset(),
}
"""All transitions. LAUNCHED becomes PENDING_LAUNCH again if the run of an existing job ended before it began.
PENDING_LAUNCH becomes SUCCEEDED or FAILED if the run ends before it was observed; FAILED becomes
PENDING_CONSTRAINT when the job gets a further attempt, by `retries` or by hand, and FAILED again if that
attempt is abandoned before its run; FAILED, or a job that waits for such an attempt, becomes SUCCEEDED when
recovery finishes what its run had promised to publish, or a person releases what is withheld.
PENDING_CONSTRAINT goes back to PENDING_TRIGGER only when a changed schedule carries its events to another
trigger. Only instances of tasks are PAUSED, and go back to PENDING_TRIGGER when they are run again
(`decision/instances/actions.py`)."""


class ByHand(StrEnum):
    """How a person triggered a waiting job (rule 17)."""

    TRIGGER = "trigger"
    FORCE = "force"


class LaunchPlan(Value, kw_only=True):
    """The input of a job's run; fixed in the transaction that decides the launch.

    Attributes:
        partitions: the output partitions that the run writes, empty for unpartitioned outputs.
        manifest: the partition keys that it was launched for, by dataset.
        upstream_runs: ids of the runs that it was launched for.
        upstream: the known facts of those runs, in the same order.
        scheduled_time: the instant of the cron, if a cron fired.
        business_date: the newest of `business_dates`, None without one.
        business_dates: those of the fires that it collected, sorted; the date of the job where that is its
            key; if the outputs need one and no cron fired, that of the instant at which the trigger was
            satisfied.
        config: of an existing job: its run config; None for what the job configures itself.
        lost: of an existing job: how many runs of this attempt ended before they began.
        key: the key of the job: that of `for_each`, its date, or the one that a person named.
        now: when the launch was decided; every attempt takes it for the present.
        sizes: what is known of the partitions in `manifest`, by dataset and key.
        fired: the members of the trigger that held.
        provisional, repairs: the missing members of the trigger, and the job (id) whose result it repairs.
        first_event_time, last_event_time: event times of the first and last event that the job collected.
    """

    program: str
    partitions: tuple[str, ...] = ()
    manifest: dict[str, tuple[str, ...]] = {}
    upstream_runs: tuple[str, ...] = ()
    upstream: tuple[UpstreamRun, ...] = ()
    args: dict[str, Any] = {}
    config: dict[str, Any] | None = None
    lost: int = 0
    scheduled_time: datetime | None = None
    business_date: str | None = None
    business_dates: tuple[str, ...] = ()
    key: str = ""
    now: datetime | None = None
    sizes: dict[str, dict[str, PartitionInput]] = {}
    fired: tuple[Fired, ...] = ()
    provisional: tuple[MissingMember, ...] = ()
    repairs: str | None = None
    first_event_time: datetime | None = None
    last_event_time: datetime | None = None

    @property
    def dates(self) -> tuple[str, ...]:
        """The business dates, sorted; a version before knew the newest one only."""
        return self.business_dates or (() if self.business_date is None else (self.business_date,))


class Job(Value, kw_only=True):
    """One firing of one schedule.

    Attributes:
        schedule: "app/name".
        key: the `for_each` key, "" without `for_each`.
        fingerprint: of the schedule when the job was opened.
        reason: why it waits, or why it was discarded or failed.
        first_event_at: arrival of its first event; `wait_at_most` counts from here.
        satisfied_at: when its trigger was satisfied; `delay` and `timeout` count from here.
        next_check_at: when to decide again; None if only an event or a released slot can change the decision.
        blocked_on: the first resource that it lacks a slot of, or whose report or end makes it due.
        needs: of a blocked job, the resources that it needs a slot of, each with its limit (`model.queue`).
        offers, offered_at: how often this attempt was offered without a run being observed, and when last.
        rejected: how many of these offers, from the first one on, were rejected before the launcher had them.
        gave_back: whether it holds no slots although its launch is decided: all its offers were rejected.
        resources: the resources of which it holds a slot once launched: all runs, its program and groups.
        closed: no further event joins it: it is full, opened by an event with its own job, or queued again.
        retried: how many attempts the engine has started by itself since a person last queued the job.
        retry_at: when the attempt may start; None unless it follows a failed one.
        raised: the run has noted a failure itself, so it did not die.
        failed_run: the newest run that failed or was cancelled, as triggers know it.
        recovered: another process has finished what a run of the job had promised to publish.
        held_at, held_for: since when its suspended schedule holds it, and for how long before (rule 19).
        instance: what makes it an instance of a task; None for the job of any other schedule.
        maintenance: what makes it an operation on a table; None for any other job.
        late_at: when it was noted that it has missed its deadline.
        repairs: what makes it a repair of the job before it of its key; None for any other job.
        commit: number of its commit id: a rerun of an instance publishes under a new one.
    """

    id: str
    schedule: str
    key: str = ""
    fingerprint: str = ""
    state: JobState = JobState.PENDING_TRIGGER
    reason: Reason | None = None
    priority: Priority = Priority.NORMAL
    opened_at: datetime
    first_event_at: datetime | None = None
    satisfied_at: datetime | None = None
    next_check_at: datetime | None = None
    blocked_on: str | None = None
    needs: tuple[tuple[str, int], ...] = ()
    by_hand: ByHand | None = None
    attempt: int = 1
    offers: int = 0
    offered_at: datetime | None = None
    rejected: int = 0
    gave_back: bool = False
    run_id: str | None = None
    launch: LaunchPlan | None = None
    resources: tuple[str, ...] = ()
    decided_at: datetime | None = None
    launched_at: datetime | None = None
    ended_at: datetime | None = None
    closed: bool = False
    retried: int = 0
    retry_at: datetime | None = None
    raised: bool = False
    failed_run: UpstreamRun | None = None
    recovered: bool = False
    held_at: datetime | None = None
    held_for: timedelta = timedelta(0)
    instance: Instance | None = None
    maintenance: Work | None = None
    repairs: Repairs | None = None
    commit: int = 1
    detail: str = ""
    late_at: datetime | None = None

    @property
    def app(self) -> str:
        return app_of(self.schedule)

    @property
    def program(self) -> str:
        """The program ("app/program") of its decided launch."""
        if self.launch is None:
            raise ValueError(f"job {self.id} is {self.state} without a launch plan")
        return f"{self.app}/{self.launch.program}"

    @property
    def of_task(self) -> Instance:
        """What makes it an instance of a task.

        Raises:
            ValueError: it is the job of another schedule.
        """
        if self.instance is None:
            raise ValueError(f"job {self.id} of {self.schedule} is not an instance of a task")
        return self.instance

    @property
    def launch_priority(self) -> Priority | None:
        """The priority of its launch; None for an instance of a backfill that comes after every other job.

        A backfill has the priority that it was started with, and not that of the task.
        """
        if self.instance is None or not self.instance.number:
            return self.priority
        return self.instance.priority

    @property
    def work(self) -> Work:
        """What makes it an operation on a table.

        Raises:
            ValueError: it is the job of a schedule.
        """
        if self.maintenance is None:
            raise ValueError(f"job {self.id} of {self.schedule} is not an operation on a table")
        return self.maintenance

    @property
    def run_key(self) -> str:
        """The key of every launch request of this attempt; Dagster drops a request with a known key.

        After a run that never began, the attempt has another key: it needs another run.
        """
        lost = 0 if self.launch is None else self.launch.lost
        return f"{self.id}:{self.attempt}" + (f":{lost}" if lost else "")

    @property
    def launch_holder(self) -> str:
        """The holder of the attempt's launch in rates: the job, and for a further attempt also its number."""
        return self.id if self.attempt == 1 else f"{self.id}:{self.attempt}"

    @property
    def waiting(self) -> bool:
        return self.state in WAITING

    @property
    def decided_when_due(self) -> bool:
        """Whether the scheduler decides about it at its next check."""
        return self.waiting or self.gave_back


class IllegalTransition(Exception):
    """A bug: code asked for a transition that `TRANSITIONS` does not allow."""


def move(job: Job, state: JobState, **changes: Any) -> Job:
    """Return the job in another state, with other fields changed.

    Raises:
        IllegalTransition: `TRANSITIONS` does not allow it.
    """
    if state not in TRANSITIONS[job.state]:
        raise IllegalTransition(f"job {job.id}: {job.state} -> {state}")
    return msgspec.structs.replace(job, state=state, **changes)


def job_id(schedule: str, key: str, opened_by: str) -> str:
    """Return the id of the job that an event opens.

    Args:
        schedule: "app/name".
        key: the `for_each` key, "" without `for_each`.
        opened_by: id of the event.
    """
    digest = hashlib.sha256("\x00".join((schedule, key, opened_by)).encode()).hexdigest()
    return f"{schedule.replace('/', '.')}-{digest[:JOB_ID_HEX_DIGITS]}"


def hash_of(id: str) -> str:
    """Return the hash at the end of a job's id: people write its first digits for the job."""
    return id.rpartition("-")[2]
