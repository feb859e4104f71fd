"""Leaf counts: what the events at each leaf add up to, event by event, also when events stop counting.

Of a leaf that counts keys, it knows for each key what it adds, and, where events may stop counting, how many
of its events count: the last of them takes away what the key has added.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from tidegate.domain.model import LeafTrigger, leaves
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.counting.arrivals import Kept
from tidegate.scheduler.decision.triggers.counting.basis import counting_of, counts_periods, slides
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.records.tally import EVENTS_OF_A_KEY, OF_A_PERIOD, LeafTally, Tally


class CountedLeaf:
    """How one leaf counts.

    Attributes:
        by_key: whether an event replaces what its partition key has added before.
        periods: whether it counts each period apart.
        wanted: the amount that is enough.
    """

    def __init__(self, trigger: LeafTrigger, collected: Collected) -> None:
        self._trigger = trigger
        self._collected = collected
        self._counting = counting_of(trigger)
        self.by_key = self._counting.by_key(trigger, collected)
        self.periods = counts_periods(self._counting, trigger)
        wanted = self._counting.wanted(trigger)
        self.wanted = 1 if wanted is None else wanted

    def amount(self, event: Event) -> int:
        """Return what one event adds."""
        return self._counting.amount(self._trigger, event)

    def period(self, event: Event) -> tuple[str, int]:
        """Return the period of an event, and how many keys it has."""
        assert self._counting.period is not None, "it counts periods"
        return self._counting.period(self._trigger, event, self._collected)


class LeafCounts:
    """The counts at the leaves of a job's trigger.

    Attributes:
        tallies: by path.
        changed: what has changed of the keys; 0 for one that adds nothing any more.
        version: grows with every change on which it depends when a trigger holds.
    """

    def __init__(self, view: JobView, tally: Tally, kept: Kept) -> None:
        trigger = view.schedule.trigger
        collected = Collected(by_leaf={}, key=view.collects_for, datasets=view.app.datasets)
        self._kinds = {leaf.path: CountedLeaf(leaf.trigger, collected) for leaf in leaves(trigger)}
        self._slides = slides(trigger)
        self._kept = kept
        self._known: dict[tuple[str, str], int] = {}
        self._asked: set[str] = set()
        self.tallies = dict(tally.leaves)
        self.changed: dict[tuple[str, str], int] = {}
        self.version = 0

    def ask(self, deliveries: Iterable[Delivery]) -> None:
        """Look up what is known of the keys of some events, together."""
        asked = {
            key for each in deliveries if self._counts_keys(each.leaf) for key in self._keys_of(each)
        } - self._asked
        if asked:
            self._asked |= asked
            # What this job has changed since wins over what the store has.
            self._known = {**self._kept.keys(asked), **self._known}

    def note(self, path: str, instant: datetime) -> None:
        """Note that the job has another event at a leaf, which may count or not."""
        tally = self.tallies.get(path)
        if tally is None:
            self.version += 1
            self.tallies[path] = LeafTally(first=instant, newest=instant)
        else:
            self.tallies[path] = msgspec.structs.replace(tally, newest=instant)

    def add(self, path: str, deliveries: list[Delivery], instant: datetime) -> bool:
        """Count the events of one instant; return whether they are enough."""
        self.ask(deliveries)
        tally = self.tallies[path]
        amount = tally.amount + sum(self._adds(path, each.event) for each in deliveries)
        enough = amount >= self._kinds[path].wanted
        self._set(path, counted=tally.counted or instant, amount=amount, since=instant if enough else None)
        return enough

    def take(self, path: str, deliveries: list[Delivery], counted: datetime | None) -> None:
        """Count some events no longer, the first ones that count.

        Args:
            counted: the arrival of the first one that is left.
        """
        self.ask(deliveries)
        tally = self.tallies[path]
        amount = tally.amount - sum(self._takes(path, each.event) for each in deliveries)
        enough = counted is not None and amount >= self._kinds[path].wanted
        self._set(path, counted=counted, amount=amount, since=tally.since if enough else None)

    def leave(self, path: str, first: datetime | None) -> None:
        """Note that events of a leaf have left the job.

        Args:
            first: the arrival of the first one that is left.
        """
        self.version += 1
        if first is None:
            del self.tallies[path]
        else:
            self.tallies[path] = msgspec.structs.replace(self.tallies[path], first=first)

    def _set(self, path: str, *, counted: datetime | None, amount: int, since: datetime | None) -> None:
        before = self.tallies[path]
        # Whether a part holds depends on these two only, not on an amount that is not enough.
        self.version += (since, counted) != (before.since, before.counted)
        self.tallies[path] = msgspec.structs.replace(before, counted=counted, amount=amount, since=since)

    def _counts_keys(self, path: str) -> bool:
        """Return whether a leaf still has to know what a partition key has added before."""
        tally = self.tallies.get(path)
        # A leaf that had enough counts on only where events may stop counting.
        return self._kinds[path].by_key and (self._slides or tally is None or tally.since is None)

    def _keys_of(self, delivery: Delivery) -> set[str]:
        """Return the keys under which the counts of an event are known: its partition, and its period."""
        kind, key = self._kinds[delivery.leaf], delivery.event.partition or ""
        return {key, kind.period(delivery.event)[0]} if kind.periods else {key}

    def _adds(self, path: str, event: Event) -> int:
        """Return what an event adds to the amount of a leaf."""
        kind, key = self._kinds[path], event.partition or ""
        amount = kind.amount(event)
        if not kind.by_key:
            return amount
        if self._slides:
            self._change((path + EVENTS_OF_A_KEY, key), 1)
        return self._of_period(path, event, self._put((path, key), amount))

    def _takes(self, path: str, event: Event) -> int:
        """Return what the amount of a leaf loses with an event, the oldest one of its key."""
        kind, key = self._kinds[path], event.partition or ""
        if not kind.by_key:
            return kind.amount(event)
        if self._change((path + EVENTS_OF_A_KEY, key), -1):
            # Younger events of the key are left, so the key adds what it added before.
            return 0
        return -self._of_period(path, event, self._put((path, key), 0))

    def _of_period(self, path: str, event: Event, change: int) -> int:
        """Return the change in complete periods, if a leaf counts these; else the change itself."""
        if not self._kinds[path].periods:
            return change
        period, keys = self._kinds[path].period(event)
        found = self._change((path + OF_A_PERIOD, period), change)
        # 1 where the period has become complete by it, -1 where it no longer is, else 0.
        return (found >= keys) - (found - change >= keys)

    def _change(self, place: tuple[str, str], by: int) -> int:
        """Change the number at a place, and return it."""
        number = self._known.get(place, 0) + by
        self._put(place, number)
        return number

    def _put(self, place: tuple[str, str], number: int) -> int:
        """Note the number at a place, and return by how much it has changed."""
        before = self._known.get(place, 0)
        if number != before:
            self._known[place] = self.changed[place] = number
        return number - before
