"""Decide the jobs of one instant in launch order: those that are due, and the first ones of woken queues.

Of a queue of blocked jobs (`scheduler.model.queue`) only as many are decided as there are free slots. One
that does not take its slot, since its window has closed for example, lets the next one be decided at the same
instant, in its place of the order. So the result is that of deciding all jobs of the queue (rule 14): slots
only fill up within an instant, and a job of a queue without room waits.

Where more is due than a transaction decides, the rest is put aside as turns (`scheduler.tick.unfinished`).
"""

import heapq
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

import msgspec

from tidegate.scheduler.decision.constraints import COUNTING_RUNS
from tidegate.scheduler.decision.outcome import Decision, Discard, Launch, Wait
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.launch_order import Known, LaunchOrderKey, Turn, launch_order_key, launch_rank
from tidegate.scheduler.model.queue import needs_of, room_in
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.tick.apply import Applier
from tidegate.scheduler.tick.load import load_job_views
from tidegate.scheduler.tick.unfinished import END_COSTS, Budget, Going, Place, QueueHead
from tidegate.scheduler.tick.working_set import WorkingSet

DAMAGED_AGAIN = timedelta(minutes=1)
"""After that a job is looked at again whose schedule has a damaged row in the store."""

QUEUED_AT_ONCE = 500
"""Jobs of a queue that are read and decided together at most."""

TURNS_AT_ONCE = 250
"""Jobs that were put aside, and are read together at most: those that are not reached are put aside again."""

_InLine = tuple[LaunchOrderKey, JobView, Decision | None, str | None]
"""A job in line: its place, what it is decided by, the decision, and the queue that it was read from."""


FIRST = QueueHead(after="", more=True, pending=0, missed=0)
"""Where a queue begins."""


class _Head:
    """How far a queue has been decided at this instant.

    Attributes:
        after: the place of the last job that was read.
        more: whether there may be jobs behind it.
        pending: jobs that were read and are still to be decided in their turn.
        missed: jobs that did not take their slot; the more there are, the more are read at once.
    """

    def __init__(self, noted: QueueHead = FIRST) -> None:
        self.after = noted.after
        self.more = noted.more
        self.pending = noted.pending
        self.missed = noted.missed

    @property
    def noted(self) -> QueueHead:
        return QueueHead(after=self.after, more=self.more, pending=self.pending, missed=self.missed)


class InOrder:
    """Decides jobs of one instant, the first one in launch order first.

    Args:
        going: what the transaction before has left of this instant; None at its beginning.

    Attributes:
        applier: writes the decisions, and knows what was launched.
        decided: how many jobs were decided.
    """

    def __init__(self, work: WorkingSet, now: datetime, budget: Budget, going: Going | None = None) -> None:
        self._work = work
        self._now = now
        self._budget = budget
        self._going = going
        self._line: list[_InLine] = []
        self._known: set[str] = set()
        self._heads: dict[str, _Head] = {}
        self._more_turns = going is not None
        self._turns: set[str] = set()
        self._aside = 0
        self.applier = Applier(work, now)

    @property
    def decided(self) -> int:
        return len(self._known) - self._aside

    def decide(self, due: Sequence[Job], queues: Sequence[str], after: Place | None = None) -> Going | None:
        """Decide the jobs that are due and those of the queues, and take the slots of those that launch.

        Args:
            after: more jobs are due behind this place, which the next transaction reads.

        Returns:
            What is left to the next transaction; None if all is done.
        """
        going = self._going
        if after is not None or (going is not None and going.heads is None):
            self._add(due, planned=False)
            self._budget.spend(len(due))
            self._put_aside()
            self._more_turns = True
            if after is not None or self._budget.is_spent:
                return Going(after=after)
            due = ()
        if going is not None and going.heads is not None:
            self._heads = {queue: _Head(noted) for queue, noted in going.heads.items()}
        else:
            self._heads = {queue: _Head() for queue in queues}
            self._add(due)
            for queue in queues:
                self._read(queue)
                self._look_at_first(queue)
        if not self._decide_in_line():
            return Going(heads={queue: head.noted for queue, head in self._heads.items()})
        if self._heads:
            self._work.mark_looked_at(self._heads)
        self.applier.wake_consumers()
        return None

    def _decide_in_line(self) -> bool:
        """Decide one job after the other; return whether all were decided, before the budget was spent."""
        begun = False
        while self._line or self._more_turns:
            if self._more_turns and not self._turns:
                # Further turns may come before the others in line.
                self._read_turns()
            if begun and self._budget.is_spent:
                self._put_aside()
                return False
            if self._line:
                begun = True
                self._decide_first()
        return True

    def _decide_first(self) -> None:
        """Decide the first job in line."""
        _, view, decision, queue = heapq.heappop(self._line)
        self._turns.discard(view.job.id)
        ended = self.applier.ended
        took = self._apply(view, decision)
        self._budget.spend(1 + (self.applier.ended - ended) * END_COSTS)
        if queue is not None:
            head = self._heads[queue]
            head.pending -= 1
            head.missed += not took
            self._read(queue)

    def _add(self, jobs: Sequence[Job], queue: str | None = None, *, planned: bool = True) -> int:
        """Put jobs into the line, each once; return how many.

        Args:
            planned: whether launches are planned; those that are put aside are at their turn.
        """
        new = [job for job in jobs if job.id not in self._known]
        if new and queue is not None and self._more_turns:
            aside = self._work.turns.among({job.id for job in new})
            new = [job for job in new if job.id not in aside]
        return self._enter(new, {job.id: queue for job in new}, {}, planned=planned)

    def _read_turns(self) -> None:
        """Put the first of those into the line that were put aside."""
        left = TURNS_AT_ONCE if self._budget.left is None else max(1, self._budget.left)
        taken = self._work.turns.take(self._now, min(left, TURNS_AT_ONCE))
        self._more_turns = bool(taken)
        jobs = self._work.as_known(self._work.jobs(ids=[each.job for each in taken])) if taken else []
        self._turns.update(job.id for job in jobs)
        known = {each.job: each.known for each in taken if each.known is not None}
        self._enter(jobs, {each.job: each.queue for each in taken}, known)
        self._turns &= {view.job.id for _, view, _, _ in self._line}

    def _enter(
        self,
        jobs: Sequence[Job],
        queues: Mapping[str, str | None],
        known: Mapping[str, Known],
        *,
        planned: bool = True,
    ) -> int:
        self._known.update(job.id for job in jobs)
        views, orphans = load_job_views(self._work, jobs, self._now, self._work.held)
        self._end_orphans(orphans, aside=not planned)
        asked = [v for v in views if v.job.waiting and known.get(v.job.id) is not Known.POSTPONED]
        decisions = self.applier.judge(asked, planned=planned)
        for view in views:
            decision = decisions.get(view.job.id)
            if decision is not None and known.get(view.job.id) is Known.TIMED_OUT:
                timed_out = Discard(reason=Reason.D_TIMEOUT)
                decision = msgspec.structs.replace(decision, outcome=timed_out, satisfied_at=None)
            order = _launch_order(view.job, decision)
            heapq.heappush(self._line, (order, view, decision, queues[view.job.id]))
        return len(views)

    def _put_aside(self) -> None:
        """Leave those in line to the next transaction, and wake those that wait for what has ended.

        What waits for its trigger waits on: no other decision of the instant can change that.
        """
        turns: list[Turn] = []
        for _, view, decision, queue in sorted(self._line, key=itemgetter(0)):
            if decision is not None and queue is None and _goes_on_waiting(decision):
                self.applier.apply(view, decision)
            elif decision is not None or queue is not None or view.job.gave_back:
                turns.append(_turn(view.job, decision, queue, self._now))
        self._line, self._turns = [], set()
        self._aside += len(turns)
        self._work.turns.put(turns)
        self.applier.wake_consumers()

    def _end_orphans(self, orphans: Sequence[Job], *, aside: bool) -> None:
        """Discard the jobs of schedules that were deleted; those of a schedule with a damaged row wait on.

        Args:
            aside: leave them to their turn.
        """
        damaged = self._work.unreadable({job.schedule for job in orphans}) if orphans else set[str]()
        for job in orphans:
            if job.schedule in damaged:
                again = self._now + DAMAGED_AGAIN
                self._work.put_jobs([msgspec.structs.replace(job, next_check_at=again)])
            elif aside:
                self._aside += 1
                self._work.turns.put([_turn(job, None, None, self._now)])
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
        if (self.applier.took_slots or self.applier.lost_instances) and (
            view.job.gave_back or (decision is not None and _may_change(decision))
        ):
            # The jobs before it have taken slots, or left their tasks: decide again.
            (view,), _ = load_job_views(self._work, [view.job], self._now, self._work.held)
            decision = None if decision is None else self.applier.judge([view])[view.job.id]
        if view.job.gave_back:
            return self.applier.decide_again(view)
        if decision is None:
            return False
        self.applier.apply(view, decision)
        return isinstance(decision.outcome, Launch)


def _turn(job: Job, decision: Decision | None, queue: str | None, now: datetime) -> Turn:
    """Return the turn of a job whose decision is put aside."""
    known = None
    if decision is None:
        known = Known.POSTPONED if job.waiting and queue is not None else None
    elif decision.satisfied_at is None and job.instance is not None:
        known = Known.TIMED_OUT
    satisfied_at = job.satisfied_at if decision is None else decision.satisfied_at
    rank = launch_rank(msgspec.structs.replace(job, satisfied_at=satisfied_at))
    return Turn(job=job.id, at=now, rank=rank, queue=queue, known=known)


def _goes_on_waiting(decision: Decision) -> bool:
    """Return whether a job waits for its trigger."""
    return decision.satisfied_at is None and isinstance(decision.outcome, Wait)


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
