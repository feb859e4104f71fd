"""Leaving: the counts of a job at an instant, and the events that are too old for their `collect_within`.

It is what `scheduler.decision.triggers.drop` says, of a job whose events are counted: only those that leave
are read, and the first one that is left at each leaf.
"""

from dataclasses import replace
from datetime import datetime

import msgspec

from tidegate.scheduler.decision.triggers.collected import Scope, in_order
from tidegate.scheduler.decision.triggers.counting.arrivals import Kept
from tidegate.scheduler.decision.triggers.counting.basis import slides
from tidegate.scheduler.decision.triggers.counting.counter import Counter
from tidegate.scheduler.decision.triggers.drop import stays_in_job
from tidegate.scheduler.decision.triggers.spans import next_start
from tidegate.scheduler.decision.triggers.tree import judge
from tidegate.scheduler.decision.view.job_view import JobView, Leaving
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.records.tally import TalliedKeys, Tally
from tidegate.scheduler.model.verdict import earliest


def counted_at(view: JobView, tally: Tally, kept: Kept, now: datetime) -> tuple[JobView, TalliedKeys]:
    """Return the view of a job with its counts at an instant, and what changes of the keys if events leave.

    Args:
        tally: counts all that has arrived by `now`.
    """
    # A job whose trigger is satisfied keeps all of its events (rule 15).
    if not slides(view.schedule.trigger) or view.job.satisfied_at is not None:
        return msgspec.structs.replace(view, tally=tally), {}
    counter = Counter(view, tally, kept)
    counter.advance((), until=now)
    view = msgspec.structs.replace(view, tally=counter.tally())
    if not counter.let_go(now):
        return view, {}
    return msgspec.structs.replace(view, leaving=_leaving(view, counter, now)), counter.changed


def _leaving(view: JobView, counter: Counter, now: datetime) -> Leaving:
    stays = stays_in_job(view.schedule.trigger, replace(counter.scope, now=now))
    limits = {path: limit for path, limit in stays.items() if limit is not None}
    gone: list[Delivery] = []
    first: dict[str, datetime | None] = {}
    before = counter.tally()
    for path, limit in limits.items():
        count = before.leaves.get(path)
        # The oldest one tells whether any leaves, so that the others are not read in vain.
        if count is not None and now - count.first >= limit:
            gone += counter.arrivals.between(path, count.first, now - limit)
            first[path] = counter.arrivals.next(path, now - limit)
    if gone:
        counter.leave(gone, first, now)
    # Once more: the counts are without those that leave now.
    left = counter.tally()
    ends = (count.first + limits[path] for path, count in left.leaves.items() if path in limits)
    # A quiet time above a `collect_within` counts from what leaves now, until it has left.
    quiet = msgspec.structs.replace(left, last=before.last)
    return Leaving(
        deliveries=tuple(sorted(gone, key=in_order)),
        tally=left,
        next_at=earliest(ends),
        holds_at=_holds_at(view, quiet, counter.scope, now),
    )


def _holds_at(view: JobView, tally: Tally, scope: Scope, now: datetime) -> datetime | None:
    """Return when the trigger will hold if no event arrives, and none leaves before."""
    counts = msgspec.structs.replace(scope.collected, tally=tally)
    return next_start(judge(view.schedule.trigger, "", replace(scope, collected=counts)).spans, now)
