"""The protocol of long lists that are read a page at a time; see `scheduler.store.protocol`.

A page begins behind an item, so rows that come or go between two pages repeat and skip nothing else.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState, Status
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.reason import Reason


class JobsWanted(Value, kw_only=True):
    """Which jobs are listed: those that match all given filters.

    Attributes:
        since: the earliest `opened_at`.
        ended_since: the earliest `ended_at`.
        before: `opened_at` and id of the job behind which the page begins.
    """

    apps: Collection[str] | None = None
    schedule: str | None = None
    state: JobState | None = None
    reason: Reason | None = None
    since: datetime | None = None
    ended_since: datetime | None = None
    before: tuple[datetime, str] | None = None


class SchedulesWanted(Value, kw_only=True):
    """Which schedules and tasks are listed: those that match all given filters.

    Attributes:
        kind: of the root of the trigger, `task` for tasks.
        after: the ref of the schedule behind which the page begins.
    """

    app: str | None = None
    program: str | None = None
    kind: str | None = None
    status: Status | None = None
    after: str | None = None


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


def counts_order(count: JobCount) -> tuple[str, str, str]:
    """Return the sort key of counts."""
    return count.app, count.state, count.reason or ""


class PageRows(Protocol):
    """Reads pages."""

    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None
    ) -> tuple[JobCount, ...]:
        """Jobs of these states by app, state and reason, in this order.

        Args:
            ended_since: of those only that ended then or later.
        """
        ...

    def backfill_counts(self, first: int, last: int) -> dict[int, dict[JobState, int]]:
        """How many instances of backfills are in each state, without empty and discarded ones.

        Args:
            first, last: their numbers, both included.
        """
        ...

    def schedules_page(self, wanted: SchedulesWanted, limit: int) -> tuple[ScheduleState, ...]:
        """Schedules, by ref: those of an app by name."""
        ...

    def schedule_count(self, app: str | None = None) -> int:
        """How many schedules and tasks there are: those of an app, or all."""
        ...

    def newest_jobs(self, wanted: JobsWanted, limit: int) -> tuple[Job, ...]:
        """Jobs, the newest first by `opened_at`, then id."""
        ...

    def deployments(self, before: int | None, limit: int) -> tuple[tuple[int, Entry], ...]:
        """The journal's entries of deployments with their numbers, the newest first.

        Args:
            before: the number of the entry behind which the page begins.
        """
        ...

    def newest_deployment(self) -> tuple[int, datetime] | None:
        """Number and instant of the newest entry of a deployment, without what it has changed."""
        ...
