"""Instant: one instant of a tick: its events are routed, then its due jobs are decided (rule 14)."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.repairs import awaits_attempt
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.tick.generate import DECISION_COSTS
from tidegate.scheduler.tick.in_order import InOrder
from tidegate.scheduler.tick.ingest import Aside, ingest
from tidegate.scheduler.tick.unfinished import Budget, Going
from tidegate.scheduler.tick.working_set import WorkingSet


class TickReport(Value, kw_only=True):
    """The result of one tick: counts, ids of launched and discarded jobs, and errors."""

    fired: int = 0
    routed: int = 0
    decided: int = 0
    launched: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    late: int = 0
    errors: tuple[str, ...] = ()

    def plus(self, other: "TickReport") -> "TickReport":
        """Return the sum of both reports."""
        return TickReport(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )


def replay_instants(
    work: WorkingSet, clock: datetime, aside: Aside, budget: Budget, going: Going | None
) -> tuple[datetime, TickReport]:
    """Replay instants of a working set; return the last one, and what was done."""
    if going is not None:
        return clock, _decide(work, clock, aside, budget, going)
    report = TickReport()
    while (
        not (aside.breaks or aside.left or budget.is_spent) and (instant := work.next_instant()) is not None
    ):
        clock, report = instant, report.plus(_at(work, instant, aside, budget))
    return clock, report


def _at(work: WorkingSet, instant: datetime, aside: Aside, budget: Budget) -> TickReport:
    """Replay one instant: route all its events, then decide its due jobs (rule 14)."""
    instances = work.instances_left
    fired, routed = ingest(work, instant, aside)
    budget.spend(fired + routed + (instances - work.instances_left) // DECISION_COSTS)
    if aside.again:
        return TickReport(fired=fired, routed=routed)
    return msgspec.structs.replace(_decide(work, instant, aside, budget), fired=fired, routed=routed)


def _decide(
    work: WorkingSet, instant: datetime, aside: Aside, budget: Budget, going: Going | None = None
) -> TickReport:
    """Decide every due job, and the first ones of every queue that was woken, in launch order.

    Args:
        aside: takes the operations on tables, which come after the other jobs, and what is left.
        going: what the transaction before has left of these decisions.
    """
    due, after = work.take_jobs(instant), work.after if instant == work.until else None
    begins = after is None and (going is None or going.heads is None)
    queues = work.queues.take(instant) if begins else []
    operations = [job for job in due if job.maintenance is not None]
    due = [job for job in due if job.maintenance is None]
    if not due and not queues and going is None and after is None:
        aside.operations += operations
        return TickReport()
    former = Going() if going is None else going
    line = InOrder(work, instant, budget, going)
    left, applier = line.decide(due, queues, after), line.applier
    repaired = former.repaired | applier.repaired
    if left is not None:
        waiting = (*former.operations, *(job.id for job in operations))
        aside.left = msgspec.structs.replace(left, operations=waiting, repaired=repaired)
    else:
        aside.operations += [*_known(work, former.operations), *operations]
        ended = [job for job in _known(work, repaired) if awaits_attempt(job)]
        aside.repaired += [(job, repaired[job.id]) for job in ended]
    return TickReport(
        decided=line.decided,
        launched=tuple(applier.launched),
        discarded=tuple(applier.discarded),
        errors=tuple(applier.errors),
    )


def _known(work: WorkingSet, ids: Collection[str]) -> Sequence[Job]:
    """Return the jobs with some ids."""
    return work.jobs(ids=ids) if ids else ()
