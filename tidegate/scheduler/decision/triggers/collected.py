"""The collected events of a job, as triggers read them: by leaf, in order of arrival."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import attrgetter

from tidegate.domain.model import Dataset, PartitionScheme, leaves
from tidegate.domain.value import Value
from tidegate.scheduler.decision.view.job_view import CountedKeys, JobView, Leaving
from tidegate.scheduler.model.event import Delivery, listens_to
from tidegate.scheduler.model.records.tally import Tally

Limits = Mapping[str, timedelta | None]
"""The largest age of a leaf's events, by path, as the `collect_within` above it say; None is unlimited."""


class Collected(Value, kw_only=True):
    """The deliveries of one job by leaf path, by arrival, then event id.

    Attributes:
        key: the job's `for_each` key, "" without `for_each`.
        datasets: the app's datasets, for their partition schemes.
        begins: of a repair: the arrival of its own first event, from which waits and `quiet` count.
        tally: the counts of the job, if they take the place of its deliveries, of which there are none then.
        leaving: beside a tally: what leaves the job, if its trigger drops events and does not hold.
        counted_keys: beside a tally that verdicts are explained by.
    """

    by_leaf: Mapping[str, tuple[Delivery, ...]]
    key: str
    datasets: Mapping[str, Dataset]
    begins: datetime | None = None
    tally: Tally | None = None
    leaving: Leaving | None = None
    counted_keys: CountedKeys | None = None

    def keys_at(self, place: str) -> Collection[str]:
        """Return the keys that are counted at a place, beside a tally that verdicts are explained by."""
        assert self.counted_keys is not None, "verdicts are explained by counts"
        return self.counted_keys(place)

    def scheme(self, dataset: str) -> PartitionScheme | None:
        """Return the partition scheme of a dataset; None also if it was removed by force (rule 23)."""
        found = self.datasets.get(dataset)
        return None if found is None else found.partitions


def collected(view: JobView) -> Collected:
    """Return the collected events of the job.

    A dead letter that is queued again under a changed schedule may have events that no leaf listens to
    any more. It is launched with them, but they do not count.
    """
    heard = heard_keys(view)
    by_leaf: dict[str, list[Delivery]] = {}
    for delivery in sorted(view.deliveries, key=in_order):
        if heard.get(delivery.leaf) == delivery.event.key:
            by_leaf.setdefault(delivery.leaf, []).append(delivery)
    return Collected(
        by_leaf={leaf: tuple(found) for leaf, found in by_leaf.items()},
        key=view.collects_for,
        datasets=view.app.datasets,
        begins=None if view.job.repairs is None else view.job.first_event_at,
        tally=view.tally,
        leaving=view.leaving,
        counted_keys=view.counted_keys,
    )


def heard_keys(view: JobView) -> dict[str, str]:
    """Return the event key that each leaf of a job's trigger collects."""
    job, program = view.job, view.schedule.program
    return {
        leaf.path: listens_to(job.app, job.schedule, leaf, program)[0]
        for leaf in leaves(view.schedule.trigger)
    }


in_order: Callable[[Delivery], tuple[datetime, str, str]] = attrgetter("event.arrived", "event.id", "leaf")
"""The sort key of a job's deliveries; a function in Python takes three times as long."""


arrived_at: Callable[[Delivery], datetime] = attrgetter("event.arrived")


def is_below(leaf: str, path: str) -> bool:
    """Return whether a leaf is at a path of the tree or below it; every leaf is below ""."""
    return not path or leaf == path or leaf.startswith(f"{path}.")


@dataclass(frozen=True, slots=True)
class Scope:
    """The arrivals that one part of a trigger may count.

    A `sequence` hides arrivals before a member's turn, a `collect_within` those that are too old.
    Arrivals after `now` are hidden from every part.

    Attributes:
        limits: the largest age at which an arrival counts.
        stays: the largest age at which an arrival is in the job, which keeps evidence longer.
        later_than: arrivals at or before this instant are hidden.
        cuts: below each of these paths, arrivals before the instant are dropped from the job.
    """

    collected: Collected
    now: datetime
    limits: Limits = field(default_factory=dict[str, timedelta | None])
    stays: Limits = field(default_factory=dict[str, timedelta | None])
    later_than: datetime | None = None
    cuts: tuple[tuple[str, datetime], ...] = ()

    def after(self, instant: datetime) -> "Scope":
        """Return the scope of arrivals strictly later than an instant."""
        if self.later_than is not None and self.later_than >= instant:
            return self
        return replace(self, later_than=instant)

    def since(self, path: str, instant: datetime) -> "Scope":
        """Return the scope without the arrivals below a path that are earlier than an instant."""
        return replace(self, cuts=(*self.cuts, (path, instant)))

    def at(self, path: str) -> tuple[Delivery, ...]:
        """Return the deliveries that the leaf at a path may count, in order of arrival."""
        found = self.in_job(path)
        first = 0 if self.later_than is None else bisect_right(found, self.later_than, key=arrived_at)
        return found[first:]

    def in_job(self, path: str) -> tuple[Delivery, ...]:
        """Return the job's deliveries at the leaf of a path, hidden or not, in order of arrival."""
        found = self.collected.by_leaf.get(path, ())
        first, end = 0, len(found)
        for cut, instant in self.cuts:
            if is_below(path, cut):
                first = max(first, bisect_left(found, instant, key=arrived_at))
        if found and found[-1].event.arrived > self.now:
            end = bisect_right(found, self.now, key=arrived_at)
        return found[first:end]

    def arrivals_below(self, path: str) -> tuple[datetime, ...]:
        """Return the instants of all arrivals that count at a path or below it, each once, in order."""
        leaves = self.leaves_below(path)
        return tuple(sorted({each.event.arrived for leaf in leaves for each in self.at(leaf)}))

    def leaves_below(self, path: str) -> Iterator[str]:
        """Return the leaves at a path or below it that have deliveries."""
        return (leaf for leaf in self.collected.by_leaf if is_below(leaf, path))
