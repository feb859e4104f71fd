"""Upstream: the instances that one dependency of an instance has picked, as the decision about it sees them.

The shell loads them (`scheduler.tick.upstream`), and they are part of the job view. Pure.
"""

from datetime import datetime

from tidegate.domain.tasks.holes import Hole
from tidegate.domain.value import Value
from tidegate.scheduler.model.instance import HOLE, NO_EDGE, Diagnostic, Edge
from tidegate.scheduler.model.job import Job


class Upstream(Value, kw_only=True):
    """What one dependency has picked.

    Attributes:
        task: the upstream task, "app/name".
        rule: the rule, for people.
        picked: the upstream instances; none if the rule has found none, or too many.
        found: the number of instances in the container.
        recorded: whether they become edges, and a missing one a diagnostic. The first `self` of a task, and
            the lot before in a backfill, do not.
        behind: whether its instances there are still to be made, so that nothing is picked yet.
        until: while it is behind: when the last of them is made, if that is not due yet.
        lot: whether it is the lot before in a backfill.
        hole: the instances that were never made where it picks; they do not gate.
    """

    task: str
    rule: str
    picked: tuple[Job, ...] = ()
    found: int = 0
    recorded: bool = True
    behind: bool = False
    until: datetime | None = None
    lot: bool = False
    hole: Hole | None = None


def edges_of(upstream: tuple[Upstream, ...]) -> tuple[Edge, ...]:
    """Return the edges of an instance, in the order of its dependencies."""
    return tuple(
        Edge(task=each.task, job=job.id, key=job.key, rule=each.rule)
        for each in upstream
        if each.recorded
        for job in each.picked
    )


def diagnostics_of(upstream: tuple[Upstream, ...]) -> tuple[Diagnostic, ...]:
    """Return the dependencies without an upstream instance, and those with a hole."""
    return tuple(
        diagnostic
        for each in upstream
        for diagnostic in (
            Diagnostic(task=each.task, rule=each.rule, found=each.found),
            Diagnostic(task=each.task, rule=each.rule, found=each.found, code=HOLE, hole=each.hole),
        )
        if (diagnostic.hole is not None or (each.recorded and not each.picked and diagnostic.code == NO_EDGE))
    )
