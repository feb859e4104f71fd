"""Counter: the counts of a job, advanced by further events, and without those that leave the job.

Where all events of a trigger count, whenever they come, a leaf just adds them up. Others are counted as the
parts of the trigger need them (`walk`).

`counted_at` says which events are too old for their `collect_within`: what
`scheduler.decision.triggers.drop` says, of a job whose events are counted. Only those that leave are read,
and the first one that is left at each leaf.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

import msgspec

from tidegate.scheduler.decision.triggers.collect_within import keeps_evidence
from tidegate.scheduler.decision.triggers.collected import Collected, Scope, heard_keys, in_order
from tidegate.scheduler.decision.triggers.counting.arrivals import BEGINNING, Arrivals, Kept, Nothing, arrived
from tidegate.scheduler.decision.triggers.counting.basis import counts_events_only, slides
from tidegate.scheduler.decision.triggers.counting.leaf_counts import LeafCounts
from tidegate.scheduler.decision.triggers.counting.quiet_times import QuietTimes
from tidegate.scheduler.decision.triggers.counting.walk import Walk
from tidegate.scheduler.decision.triggers.drop import stays_in_job
from tidegate.scheduler.decision.triggers.spans import next_start
from tidegate.scheduler.decision.triggers.tree import judge, limits_of
from tidegate.scheduler.decision.view.job_view import JobView, Leaving
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.records.tally import TalliedKeys, Tally
from tidegate.scheduler.model.verdict import earliest


class Counter:
    """The counts of one job, as they change.

    Attributes:
        arrivals: its events, of a trigger whose events may stop counting; of another one the new events.
        scope: of the whole trigger, by these counts.
    """

    def __init__(self, view: JobView, tally: Tally, kept: Kept) -> None:
        trigger = view.schedule.trigger
        self._heard = heard_keys(view)
        self._through = tally.through
        self._events, self._deliveries = tally.events, tally.deliveries
        self._came = dict(tally.came)
        newest = {path: each.newest for path, each in tally.leaves.items()}
        self.arrivals = Arrivals(kept if slides(trigger) else Nothing(), self._heard, newest)
        self._leaves = LeafCounts(view, tally, kept)
        self._quiet_times = QuietTimes(tally.last, self.arrivals)
        # The tally of this scope changes with the counts.
        live = Tally(leaves=self._leaves.tallies, last=self._quiet_times.last, came=self._came)
        collected = Collected(by_leaf={}, key=view.collects_for, datasets=view.app.datasets, tally=live)
        limits = limits_of(trigger)
        self.scope = Scope(collected, tally.through or BEGINNING, limits, limits)
        self._walk: Walk | None = None
        self._counts_events_only = counts_events_only(view)
        if not self._counts_events_only and (slides(trigger) or keeps_evidence(trigger)):
            parts = (trigger, self._leaves, self._quiet_times, self.arrivals, self._came, self.scope)
            self._walk = Walk(*parts, slides=slides(trigger))
            if tally.through is not None:
                self._walk.restore(tally.through)

    @property
    def changed(self) -> TalliedKeys:
        """What has changed of the keys, 0 for one that adds nothing any more."""
        return self._leaves.changed

    def tally(self) -> Tally:
        """Return the counts as they are."""
        return Tally(
            leaves=dict(self._leaves.tallies),
            last=dict(self._quiet_times.last),
            came=dict(self._came),
            through=self._through,
            events=self._events,
            deliveries=self._deliveries,
        )

    def advance(self, deliveries: Sequence[Delivery], until: datetime | None = None) -> None:
        """Count further events, which arrived after all that are counted.

        Args:
            until: bring the counts to this instant; no event arrived later.
        """
        ordered = sorted(deliveries, key=in_order)
        instants = (self._through, until, *(arrived(each) for each in ordered[-1:]))
        self._through = max((each for each in instants if each is not None), default=None)
        # An event that several leaves hear is one event, with a delivery to each.
        self._events += len({each.event.id for each in ordered})
        self._deliveries += len(ordered)
        if self._counts_events_only:
            return
        # What came before a deployment may be of a key that its leaf does not hear any more.
        heard = [each for each in ordered if self._heard.get(each.leaf) == each.event.key]
        # All at once: one query of the store, not one for each instant.
        self._leaves.ask(heard)
        self.arrivals.add(heard)
        for instant, together in groupby(heard, key=arrived):
            by_leaf: dict[str, list[Delivery]] = {}
            for each in together:
                by_leaf.setdefault(each.leaf, []).append(each)
            self._count(by_leaf, instant)
        if until is not None and self._walk is not None:
            self._walk.bring(until)

    def _count(self, by_leaf: Mapping[str, list[Delivery]], instant: datetime) -> None:
        """Count the events of an instant."""
        # All leaves before the walk, which looks for the last arrival below a part.
        for path in by_leaf:
            self._leaves.note(path, instant)
        if self._walk is not None:
            self._walk.bring(instant)
            return
        for path, deliveries in by_leaf.items():
            # Where no event stops counting, enough stays enough (rule 15).
            if self._leaves.tallies[path].since is None:
                self._leaves.add(path, deliveries, instant)

    def let_go(self, now: datetime) -> bool:
        """Do not count what is as old as a `collect_within` at `now`: it counts at no later instant.

        Returns:
            Whether the trigger does not hold yet; one that holds keeps its events.
        """
        return self._walk is not None and self._walk.bring(now, strict=True) is None

    def leave(self, gone: Collection[Delivery], first: Mapping[str, datetime | None], now: datetime) -> None:
        """Note that events, which do not count any more, leave the job at `now`.

        Args:
            first: the first arrival that is left, of each leaf that loses events.
        """
        # Before the walk looks again: it must not count them once more.
        for path, instant in first.items():
            self._leaves.leave(path, instant)
            self.arrivals.drop(path, instant)
        assert self._walk is not None, "events leave only where they may stop counting"
        self._walk.look_again()
        self._walk.bring(now, strict=True)
        self._through = now
        self._events -= len({each.event.id for each in gone if not self._stays(each)})
        self._deliveries -= len(gone)

    def _stays(self, delivery: Delivery) -> bool:
        """Return whether an event that leaves a leaf is in the job at another one."""
        event = delivery.event
        return any(
            each.event.id == event.id
            for path, key in self._heard.items()
            if key == event.key and path != delivery.leaf
            for each in self.arrivals.between(path, event.arrived, event.arrived)
        )


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
