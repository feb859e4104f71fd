"""Arrivals: the events of a job by leaf, in order of arrival: those that are kept, then those that are new.

The store keeps the counted events of a job whose events may stop counting. They are read in pages, where
they are asked for. So a walk over a few events costs the same, however many the job holds.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from tidegate.scheduler.decision.triggers.collected import in_order, is_below
from tidegate.scheduler.decision.triggers.spans import FOREVER, TICK
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.records.tally import TalliedKeys


class Kept(Protocol):
    """What the tally of one job counts. Events are kept only for a trigger whose events may stop counting."""

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        """Return what these keys have added, or at least that."""
        ...

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        """Return the first counted events at a leaf that arrived after an instant, in order of arrival."""
        ...

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        """Return the last arrival at a leaf up to an instant, of the counted events."""
        ...


class Nothing:
    """Of a job of which nothing is counted yet."""

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        return {}

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        return ()

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        return None


BEGINNING = datetime.min.replace(tzinfo=UTC)
"""Before every arrival."""

EVENTS_READ = 4
"""Events in the first page of a leaf: in most cases one leaves, and the next one is looked up."""

MOST_EVENTS_READ = 1_000
"""Events in a page of a long walk; each further page of a leaf is twice as long as the one before."""

PAGES_KEPT = 8
"""Pages of a leaf that stay in memory: a leaf is read at its two ends."""


class Page(NamedTuple):
    """All kept events of a leaf that arrived after an instant, and up to another."""

    after: datetime
    until: datetime
    deliveries: Sequence[Delivery]


class Arrivals:
    """The events of a job.

    Args:
        leaves: the paths of its trigger's leaves.
        newest: the last arrival at each leaf.
    """

    def __init__(self, kept: Kept, leaves: Collection[str], newest: Mapping[str, datetime]) -> None:
        self._kept = kept
        self._leaves = tuple(leaves)
        self._below: dict[str, tuple[str, ...]] = {}
        self._newest = dict(newest)
        self._first: dict[str, datetime] = {}
        self._pages: dict[str, list[Page]] = {}
        self._limits: dict[str, int] = {}
        self._added: dict[str, list[Delivery]] = {}
        self._times: dict[str, list[datetime]] = {}

    def add(self, deliveries: Iterable[Delivery]) -> None:
        """Add new events; they arrived after all that are there."""
        for each in sorted(deliveries, key=in_order):
            self._added.setdefault(each.leaf, []).append(each)
            self._times.setdefault(each.leaf, []).append(each.event.arrived)

    def drop(self, leaf: str, first: datetime | None) -> None:
        """Take away the events that arrived before an instant; all of a leaf if it is None."""
        if first is None:
            self._newest.pop(leaf, None)
            self._added.pop(leaf, None)
            self._times.pop(leaf, None)
        else:
            # Pages in memory still have what has left; readers begin behind it.
            self._first[leaf] = first

    def after(self, leaf: str, instant: datetime) -> Iterator[Delivery]:
        """Yield the events that arrived after an instant, in order."""
        if leaf in self._first:
            instant = max(instant, before(self._first[leaf]))
        # Behind the newest one that is kept the store is not asked.
        reached, newest = instant, self._newest.get(leaf, BEGINNING)
        while reached < newest:
            page = self._page(leaf, reached)
            yield from page.deliveries[bisect_right(page.deliveries, reached, key=arrived) :]
            reached = page.until
        added = self._added.get(leaf, ())
        for place in range(bisect_right(self._times.get(leaf, ()), instant), len(added)):
            yield added[place]

    def between(self, leaf: str, first: datetime, last: datetime) -> Iterator[Delivery]:
        """Yield the events that arrived from `first` to `last`, both included, in order."""
        for each in self.after(leaf, before(first)):
            if arrived(each) > last:
                return
            yield each

    def next(self, leaf: str, after: datetime) -> datetime | None:
        """Return the first arrival after an instant."""
        # Else only new events can follow, and these are in memory.
        if after < self._newest.get(leaf, BEGINNING) or leaf in self._first:
            return next((arrived(each) for each in self.after(leaf, after)), None)
        times = self._times.get(leaf, ())
        place = bisect_right(times, after)
        return times[place] if place < len(times) else None

    def next_below(self, path: str, after: datetime) -> datetime | None:
        """Return the first arrival after an instant, at any leaf below a path."""
        found = (self.next(leaf, after) for leaf in self._leaves_below(path))
        return min((each for each in found if each is not None), default=None)

    def newest_below(self, path: str, first: datetime, until: datetime) -> datetime | None:
        """Return the last arrival from `first` to `until`, both included, at any leaf below a path."""
        found = (self._last(leaf, until) for leaf in self._leaves_below(path))
        return max((each for each in found if each is not None and each >= first), default=None)

    def known_below(self, path: str) -> datetime | None:
        """Return the last arrival of all events that were there from the beginning, below a path."""
        found = (self._newest.get(leaf) for leaf in self._leaves_below(path))
        return max((each for each in found if each is not None), default=None)

    def _last(self, leaf: str, until: datetime) -> datetime | None:
        times = self._times.get(leaf, ())
        place = bisect_right(times, until)
        if place:
            return times[place - 1]
        newest = self._newest.get(leaf)
        return newest if newest is None or newest <= until else self._kept.newest(leaf, until)

    def _leaves_below(self, path: str) -> tuple[str, ...]:
        if path not in self._below:
            self._below[path] = tuple(leaf for leaf in self._leaves if is_below(leaf, path))
        return self._below[path]

    def _page(self, leaf: str, after: datetime) -> Page:
        """Return a page that begins at an instant, or before it, and reaches beyond it."""
        pages = self._pages.setdefault(leaf, [])
        found = next((page for page in pages if page.after <= after < page.until), None)
        if found is None:
            found = self._read(leaf, after)
            pages.insert(0, found)
            del pages[PAGES_KEPT:]
        return found

    def _read(self, leaf: str, after: datetime) -> Page:
        while True:
            limit = self._limits.get(leaf, EVENTS_READ)
            self._limits[leaf] = min(2 * limit, max(limit, MOST_EVENTS_READ))
            found = self._kept.events(leaf, after, limit)
            if len(found) < limit:
                return Page(after, FOREVER, found)
            # The events of the last instant may go on behind the page.
            whole = bisect_left(found, arrived(found[-1]), key=arrived)
            if whole:
                return Page(after, arrived(found[whole - 1]), found[:whole])
            # The whole page arrived at one instant: only a longer one has an end.
            self._limits[leaf] = 2 * limit


def arrived(delivery: Delivery) -> datetime:
    """Return the arrival of the event."""
    return delivery.event.arrived


def before(instant: datetime) -> datetime:
    """Return the last instant before one."""
    return instant - TICK if instant > BEGINNING else instant
