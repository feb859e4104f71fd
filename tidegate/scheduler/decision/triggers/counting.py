"""Counting: a job's tally, advanced by the events that arrived after those that it counts.

    tally, with what it knows of the keys ── new events in order of arrival ──► tally, changed keys

It is for triggers whose leaves only count upwards, without `sequence` and `collect_within`: there an event
never stops counting, and a later one changes nothing before its arrival. Others are evaluated from all events
of the job. A leaf that waits for a `complete` period counts the keys of each period apart. A tally that is
advanced event by event equals one that is counted from all events at once.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

import msgspec

from tidegate.domain.model import App, Composite, LeafTrigger, PartitionScheme, Trigger, child_path, leaves
from tidegate.scheduler.decision.triggers.collected import Collected, Scope, heard_keys, in_order, is_below
from tidegate.scheduler.decision.triggers.leaf import Counting
from tidegate.scheduler.decision.triggers.tree import LEAVES, judge_kind
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.records.tally import LeafTally, TalliedKeys, Tally

DIGEST_DIGITS = 16

OF_A_PERIOD = " of a period"
"""After the path of a leaf that counts each period apart: there its keys are the periods."""


def basis_of(view: JobView) -> str | None:
    """Return what identifies how a job's events are counted; None for a trigger that needs all of them."""
    trigger = view.schedule.trigger
    if not _is_countable(trigger, view.app):
        return None
    bare = [name for name, dataset in sorted(view.app.datasets.items()) if dataset.partitions is None]
    named = {leaf.trigger.dataset_collected for leaf in leaves(trigger)}
    program = f"{view.job.schedule} {view.schedule.program}"
    text = msgspec.json.encode([program, trigger, [name for name in bare if name in named], *_cut(view)])
    return hashlib.sha256(text).hexdigest()[:DIGEST_DIGITS]


def _is_countable(trigger: Trigger, app: App) -> bool:
    if trigger.collect_within is not None:
        return False
    if isinstance(trigger, Composite):
        return not trigger.in_turn and all(_is_countable(member, app) for member in trigger.of)
    counting = LEAVES[type(trigger)].counting if type(trigger) in LEAVES else None
    if counting is None:
        return False
    return not _counts_periods(counting, trigger) or _scheme(trigger, app) is not None


def _cut(view: JobView) -> Iterator[PartitionScheme | None]:
    """Yield the partitions of the datasets of which a trigger counts each period apart."""
    for leaf in leaves(view.schedule.trigger):
        counting = LEAVES[type(leaf.trigger)].counting
        if counting is not None and _counts_periods(counting, leaf.trigger):
            yield _scheme(leaf.trigger, view.app)


def _counts_periods(counting: Counting, trigger: LeafTrigger) -> bool:
    return counting.wanted(trigger) is None


def _scheme(trigger: LeafTrigger, app: App) -> PartitionScheme | None:
    dataset = app.datasets.get(trigger.dataset_collected or "")
    return None if dataset is None else dataset.partitions


def keys_asked(view: JobView, tally: Tally, deliveries: Iterable[Delivery]) -> set[str]:
    """Return the partition keys of further events of which the tally has to know what they have added."""
    counter, heard = _Counter(view, tally, {}), heard_keys(view)
    asking = {path for path in heard if counter.counts_keys(path)}
    return {
        key
        for each in deliveries
        if each.leaf in asking and heard[each.leaf] == each.event.key
        for key in counter.keys_of(each)
    }


def advanced(
    view: JobView, tally: Tally, deliveries: Sequence[Delivery], known: TalliedKeys
) -> tuple[Tally, dict[tuple[str, str], int]]:
    """Return the tally after further events, and what has changed of the keys.

    Args:
        deliveries: of events that the tally does not count; all arrived after `tally.through`.
        known: what the tally has counted of the keys of these events, at least.
    """
    counter = _Counter(view, tally, known)
    heard = heard_keys(view)
    ordered = sorted(deliveries, key=in_order)
    for instant, together in groupby(ordered, key=lambda each: each.event.arrived):
        counter.add(instant, [each for each in together if heard.get(each.leaf) == each.event.key])
    through = ordered[-1].event.arrived if ordered else tally.through
    events = tally.events + len({each.event.id for each in ordered})
    return msgspec.structs.replace(counter.tally(), through=through, events=events), counter.changed


class QuietPart(NamedTuple):
    """A part of a trigger that has a `quiet`."""

    trigger: Trigger
    path: str
    quiet: timedelta


class _Counter:
    """Counts the events of a job, instant by instant.

    Attributes:
        changed: what has changed of the keys.
    """

    def __init__(self, view: JobView, tally: Tally, known: TalliedKeys) -> None:
        trigger = view.schedule.trigger
        self._leaves = {leaf.path: leaf.trigger for leaf in leaves(trigger)}
        self._quiet = tuple(_quiet_parts(trigger, ""))
        self._collected = Collected(by_leaf={}, key=view.job.key, datasets=view.app.datasets, tally=tally)
        self._counts = dict(tally.leaves)
        self._last = dict(tally.last)
        self._known = known
        self._begun: dict[str, datetime] = {}
        self.changed: dict[tuple[str, str], int] = {}

    def tally(self) -> Tally:
        """Return the counts so far, of the leaves and of the parts with a `quiet`."""
        return Tally(leaves=dict(self._counts), last=dict(self._last))

    def counts_keys(self, path: str) -> bool:
        """Return whether a leaf still has to know what a partition key has added before."""
        count = self._counts.get(path)
        return (count is None or count.since is None) and self._counting(path).by_key(
            self._leaves[path], self._collected
        )

    def keys_of(self, delivery: Delivery) -> Iterator[str]:
        """Yield the keys under which the counts of an event are known: its partition, and its period."""
        yield delivery.event.partition or ""
        counting, trigger = self._counting(delivery.leaf), self._leaves[delivery.leaf]
        if counting.period is not None and _counts_periods(counting, trigger):
            yield counting.period(trigger, delivery.event, self._collected)[0]

    def add(self, instant: datetime, deliveries: Sequence[Delivery]) -> None:
        """Count all events that arrived at an instant, in their order."""
        for path in {delivery.leaf for delivery in deliveries}:
            events = [delivery.event for delivery in deliveries if delivery.leaf == path]
            before = self._counts.get(path)
            if before is None or before.since is None:
                self._counts[path] = self._counted(path, before or LeafTally(first=instant), events, instant)
        for part in self._quiet:
            if any(is_below(delivery.leaf, part.path) for delivery in deliveries):
                self._continue_quiet(part, instant)

    def _counting(self, path: str) -> Counting:
        counting = LEAVES[type(self._leaves[path])].counting
        assert counting is not None, "the trigger is countable"
        return counting

    def _counted(self, path: str, count: LeafTally, events: Sequence[Event], instant: datetime) -> LeafTally:
        """Return the count at a leaf that was not enough, after the events of an instant."""
        trigger, counting, amount = self._leaves[path], self._counting(path), count.amount
        by_key, wanted, enough = counting.by_key(trigger, self._collected), counting.wanted(trigger), False
        for event in events:
            adds = counting.amount(trigger, event)
            if by_key:
                adds -= self._replaced((path, event.partition or ""), adds)
            if wanted is not None:
                amount += adds
                enough = amount >= wanted
            elif counting.period is not None:
                period, keys = counting.period(trigger, event, self._collected)
                place = (path + OF_A_PERIOD, period)
                found = adds + self._before(place)
                self._replaced(place, found)
                amount, enough = max(amount, found), enough or found >= keys
        return LeafTally(first=count.first, amount=amount, since=instant if enough else None)

    def _before(self, place: tuple[str, str]) -> int:
        """Return the amount at a place so far."""
        return self.changed.get(place, self._known.get(place, 0))

    def _replaced(self, place: tuple[str, str], amount: int) -> int:
        """Note the amount at a place, and return what it was."""
        before = self._before(place)
        if amount != before:
            self.changed[place] = amount
        return before

    def _continue_quiet(self, part: QuietPart, instant: datetime) -> None:
        """Let the quiet time of a part start again at an arrival, unless it is over, or has not begun."""
        begun, last = self._begins(part, instant), self._last.get(part.path)
        over = begun is not None and begun < instant >= max((last or begun) + part.quiet, begun)
        if not over:
            self._last[part.path] = instant

    def _begins(self, part: QuietPart, instant: datetime) -> datetime | None:
        """Return when a part holds without its `quiet`, as known at an instant; in the past it is final."""
        if part.path in self._begun:
            return self._begun[part.path]
        collected = msgspec.structs.replace(self._collected, tally=self.tally())
        spans = judge_kind(part.trigger, part.path, Scope(collected, instant)).spans
        begun = spans[0].start if spans else None
        if begun is not None and begun <= instant:
            self._begun[part.path] = begun
        return begun


def _quiet_parts(trigger: Trigger, path: str) -> Iterator[QuietPart]:
    """Yield the parts of a trigger that have a `quiet`, members before the composite that has them."""
    if isinstance(trigger, Composite):
        for index, member in enumerate(trigger.of):
            yield from _quiet_parts(member, child_path(path, index))
    if trigger.quiet is not None:
        yield QuietPart(trigger, path, trigger.quiet)
