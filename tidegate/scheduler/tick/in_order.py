"""Decide the jobs of one instant in launch order: those that are due, and the first ones of woken queues.

Of a queue of blocked jobs (`scheduler.model.queue`) only as many are decided as there are free slots. One
that does not take its slot, since its window has closed for example, lets the next one be decided at the same
instant, in its place of the order. So the result is that of deciding all jobs of the queue (rule 14): slots
only fill up within an instant, and a job of a queue without room waits.
"""

import heapq
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tidegate.scheduler.decision.constraints import COUNTING_RUNS
from tidegate.scheduler.decision.outcome import Decision, Launch, Wait
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.launch_order import LaunchOrderKey, launch_order_key, launch_rank
from tidegate.scheduler.model.queue import needs_of, room_in
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.tick.apply import Applier
from tidegate.scheduler.tick.load import load_job_views
from tidegate.scheduler.tick.working_set import WorkingSet

DAMAGED_AGAIN = timedelta(minutes=1)
"""After that a job is looked at again whose schedule has a damaged row in the store."""

QUEUED_AT_ONCE = 500
"""Jobs of a queue that are read and decided together at most."""


class _Head:
    """How far a queue has been decided at this instant.

    Attributes:
        after: the place of the last job that was read.
        more: whether there may be jobs behind it.
        pending: jobs that were read and are still to be decided in their turn.
        missed: jobs that did not take their slot; the more there are, the more are read at once.
    """

    def __init__(self) -> None:
        self.after = ""
        self.more = True
        self.pending = 0
        self.missed = 0


class InOrder:
    """Decides jobs of one instant, the first one in launch order first.

    Attributes:
        applier: writes the decisions, and knows what was launched.
        decided: how many jobs were decided.
    """

    def __init__(self, work: WorkingSet, now: datetime) -> None:
        self._work = work
        self._now = now
        self._line: list[tuple[LaunchOrderKey, JobView, Decision | None, str | None]] = []
        self._known: set[str] = set()
        self._heads: dict[str, _Head] = {}
        self.applier = Applier(work, now)

    @property
    def decided(self) -> int:
        return len(self._known)

    def decide(self, due: Sequence[Job], queues: Sequence[str]) -> None:
        """Decide the jobs that are due and those of the queues, and take the slots of those that launch."""
        self._heads = {queue: _Head() for queue in queues}
        self._add(due)
        for queue in queues:
            self._read(queue)
            self._look_at_first(queue)
        while self._line:
            _, view, decision, queue = heapq.heappop(self._line)
            took = self._apply(view, decision)
            if queue is not None:
                head = self._heads[queue]
                head.pending -= 1
                head.missed += not took
                self._read(queue)
        if queues:
            self._work.mark_looked_at(queues)
        self.applier.wake_consumers()

    def _add(self, jobs: Sequence[Job], queue: str | None = None) -> int:
        """Put jobs into the line, each once; return how many."""
        new = [job for job in jobs if job.id not in self._known]
        self._known.update(job.id for job in new)
        views, orphans = load_job_views(self._work, new, self._now, self._work.held)
        self._end_orphans(orphans)
        decisions = self.applier.judge([view for view in views if view.job.waiting])
        for view in views:
            decision = decisions.get(view.job.id)
            heapq.heappush(self._line, (_launch_order(view.job, decision), view, decision, queue))
        return len(views)

    def _end_orphans(self, orphans: Sequence[Job]) -> None:
        """Discard the jobs of schedules that were deleted; those of a schedule with a damaged row wait on."""
        damaged = self._work.unreadable({job.schedule for job in orphans}) if orphans else set[str]()
        for job in orphans:
            if job.schedule in damaged:
                again = self._now + DAMAGED_AGAIN
                self._work.put_jobs([msgspec.structs.replace(job, next_check_at=again)])
            else:
                self.applier.discard(job, Reason.D_DELETED)

    def _read(self, queue: str) -> None:
        """Put as many jobs of a queue into the line as there are free slots."""
        head = self._heads[queue]
        room = room_in(queue, self._work.slots(needs_of(queue)))
        while head.more and head.pending < room:
            size = min(max(room - head.pending, head.missed), QUEUED_AT_ONCE)
            found = self._work.queued_jobs(queue, head.after, size)
            head.more = len(found) == size
            head.after = launch_rank(found[-1]) if found else head.after
            head.pending += self._add(found, queue)

    def _look_at_first(self, queue: str) -> None:
        """Put the first job of a queue without room into the line if it may wait for something else now."""
        head, limits = self._heads[queue], needs_of(queue)
        taken = self._work.slots(limits)
        lacking = [name for name, limit in limits.items() if limit is not None and taken[name] >= limit]
        if head.after or not lacking or len(lacking) == len(limits):
            return
        for first in self._work.queued_jobs(queue, "", 1):
            if first.blocked_on not in lacking:
                head.after = launch_rank(first)
                head.pending += self._add([first], queue)

    def _apply(self, view: JobView, decision: Decision | None) -> bool:
        """Write the decision about a job as of its turn; return whether it took slots."""
        if self.applier.took_slots and (
            view.job.gave_back or (decision is not None and _may_change(decision))
        ):
            # The jobs before it have taken slots: decide again.
            (view,), _ = load_job_views(self._work, [view.job], self._now, self._work.held)
            decision = None if decision is None else self.applier.judge([view])[view.job.id]
        if view.job.gave_back:
            return self.applier.decide_again(view)
        if decision is None:
            return False
        self.applier.apply(view, decision)
        return isinstance(decision.outcome, Launch)


def _launch_order(job: Job, decision: Decision | None) -> LaunchOrderKey:
    return launch_order_key(job, job.satisfied_at if decision is None else decision.satisfied_at)


def _may_change(decision: Decision) -> bool:
    """Return whether launches at the same instant may change a decision.

    A job that waits goes on waiting, but perhaps for a constraint that comes earlier in the order of checks.
    """
    if decision.satisfied_at is None:
        return False
    return not isinstance(decision.outcome, Wait) or any(
        verdict.met and verdict.kind in COUNTING_RUNS for verdict in decision.constraints
    )
