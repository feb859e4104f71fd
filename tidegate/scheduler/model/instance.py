"""The instance of a cycle task: what makes a job one, its status, and its recorded upstream instances.

An instance is a job with a scheduled time, which is its identity, a start time, before which it never runs,
and a business date, for which it writes (docs/cycles.md). In a backfill of a schedule it has a key of the
schedule in place of a scheduled time, and collects no events. Its status is the state of its job:

    NOT_RUN     PENDING_TRIGGER                      SUCCESSFUL  SUCCEEDED
    WAITING     PENDING_CONSTRAINT, PENDING_LAUNCH   FAILED      FAILED
    RUNNING     LAUNCHED                             PAUSED      PAUSED
"""

from datetime import datetime
from enum import StrEnum

from tidegate.domain.model import Priority
from tidegate.domain.tasks.holes import Hole
from tidegate.domain.value import Value

DATE_CHARACTERS = len("2026-03-10")


class InstanceKind(StrEnum):
    """How an instance came to be: by its task's times, by a report from outside, or by a backfill."""

    PERIODIC = "periodic"
    OUTSIDE = "outside"
    BACKFILL = "backfill"


class Status(StrEnum):
    """The status of an instance; `ABSENT` is one that was never made, or was discarded."""

    NOT_RUN = "not_run"
    WAITING = "waiting"
    RUNNING = "running"
    SUCCESSFUL = "successful"
    FAILED = "failed"
    PAUSED = "paused"
    ABSENT = "absent"


class Edge(Value, kw_only=True):
    """One upstream instance of an instance.

    Attributes:
        task: the upstream task, "app/name".
        job: id of the upstream instance.
        key: its scheduled time, as a key.
        rule: the rule that picked it, for people.
    """

    task: str
    job: str
    key: str
    rule: str


NO_EDGE = "E-NO-EDGE"
"""The diagnostic of a dependency that has found no upstream instance."""


HOLE = "E-HOLE"
"""The diagnostic of a dependency of which instances were never made: they do not gate."""


class Diagnostic(Value, kw_only=True):
    """What is wrong with a dependency of an instance.

    Attributes:
        task: the upstream task.
        rule: how it picks.
        found: how many instances it has found.
        code: that it has picked none, or that instances were never made where it picks.
        hole: of `HOLE`: which ones.
    """

    task: str
    rule: str
    found: int = 0
    code: str = NO_EDGE
    hole: Hole | None = None


class Instance(Value, kw_only=True):
    """What makes a job an instance of a task.

    Attributes:
        key: its scheduled time, as a key in the task's zone.
        scheduled: its scheduled time. Aware, UTC, as all instants here.
        start: its start time.
        business: the instant at which its business date begins.
        business_date: its business date, as a key in the task's zone.
        keyed: whether it is of a schedule, by a key of it; `scheduled` and `business` are when the period of
            the key begins, and `business_date` is the date of the key.
        number: of the backfill that it belongs to, from 1; 0 for none.
        lot: its lot in that backfill, from 0.
        priority: that the backfill was started with; without one it comes after every other ready job.
        quiet: of a backfill: what it publishes, and its end, start no schedule.
        began: of a backfill: when its lot began; None while the lots before are not successful.
        empty: on an off day: it runs nothing and is successful at its start time.
        marked: a person has marked it as successful.
        attempt: number of its attempts; 0 until its first launch.
        counts_from: when its timeout starts, if not at its start time or, of a backfill, with its lot: at a
            rerun.
        upstream: its upstream instances, recorded when it left Not Run.
        diagnostics: its dependencies without an upstream instance, recorded then too.
    """

    key: str
    scheduled: datetime
    start: datetime
    business: datetime
    business_date: str
    kind: InstanceKind = InstanceKind.PERIODIC
    keyed: bool = False
    number: int = 0
    lot: int = 0
    priority: Priority | None = None
    quiet: bool = False
    began: datetime | None = None
    empty: bool = False
    marked: bool = False
    attempt: int = 0
    counts_from: datetime | None = None
    upstream: tuple[Edge, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def date(self) -> str:
        """The date under which a backfill counts it: the business day, or the date of the key."""
        return self.business_date if self.keyed else self.business_date[:DATE_CHARACTERS]


def instance_resource(job: str) -> str:
    """Return the resource on which consumers of an instance are blocked; it has no slots."""
    return f"instance:{job}"


def task_event_key(task: str) -> str:
    """Return the key in the reverse index under which the consumers of a task ("app/name") are found."""
    return f"task:{task}"
