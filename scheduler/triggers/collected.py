"""What a job has collected, as the triggers want to see it: by leaf, in order of arrival."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from compiler.model import Dataset, leaves
from compiler.value import Value
from scheduler.event import Delivery, listens_to
from scheduler.slice import Slice


class Collected(Value, kw_only=True):
    """The deliveries of one job by leaf path, by arrival, then event id.

    Attributes:
        key: the job's `for_each` key, "" where events are pooled.
        datasets: of the app, for their partition schemes.
    """

    by_leaf: Mapping[str, tuple[Delivery, ...]]
    key: str
    datasets: Mapping[str, Dataset]


def collected(part: Slice) -> Collected:
    """What the job of a slice has collected.

    A dead letter that is queued again under a changed schedule has what no leaf listens to any more. It
    is launched with it, but that counts nowhere.
    """
    job, program = part.job, part.schedule.program
    heard = {
        leaf.path: listens_to(job.app, job.schedule, leaf, program)[0]
        for leaf in leaves(part.schedule.trigger)
    }
    by_leaf: dict[str, list[Delivery]] = {}
    for delivery in sorted(part.deliveries, key=in_order):
        if heard.get(delivery.leaf) == delivery.event.key:
            by_leaf.setdefault(delivery.leaf, []).append(delivery)
    return Collected(
        by_leaf={leaf: tuple(found) for leaf, found in by_leaf.items()},
        key=part.job.key,
        datasets=part.app.datasets,
    )


def in_order(delivery: Delivery) -> tuple[datetime, str, str]:
    """Where a delivery stands among those of a job: by arrival, then event id, then leaf."""
    return delivery.event.arrived, delivery.event.id, delivery.leaf


def _arrived(delivery: Delivery) -> datetime:
    return delivery.event.arrived


def is_below(leaf: str, path: str) -> bool:
    """Whether a leaf stands at a path of the tree or below it; every leaf is below ""."""
    return not path or leaf == path or leaf.startswith(f"{path}.")


@dataclass(frozen=True, slots=True)
class Sight:
    """The arrivals that one part of a trigger may count.

    A `sequence` hides what came before a member's turn, a `collect_within` what is too old. Nobody
    sees what will have arrived only after `now`.
    """

    collected: Collected
    now: datetime
    later_than: datetime | None = None
    not_before: datetime | None = None

    def after(self, instant: datetime) -> "Sight":
        """Only what came strictly later than an instant."""
        if self.later_than is not None and self.later_than >= instant:
            return self
        return replace(self, later_than=instant)

    def since(self, instant: datetime) -> "Sight":
        """Only what came at an instant or later."""
        if self.not_before is not None and self.not_before >= instant:
            return self
        return replace(self, not_before=instant)

    def at(self, path: str) -> tuple[Delivery, ...]:
        """What the leaf at a path may count, in order of arrival."""
        found = self.collected.by_leaf.get(path, ())
        first, end = 0, len(found)
        if self.later_than is not None:
            first = bisect_right(found, self.later_than, key=_arrived)
        if self.not_before is not None:
            first = max(first, bisect_left(found, self.not_before, key=_arrived))
        if found and found[-1].event.arrived > self.now:
            end = bisect_right(found, self.now, key=_arrived)
        return found[first:end]

    def first_below(self, path: str) -> datetime | None:
        """The first arrival that counts at a path or below it."""
        return min((found[0].event.arrived for found in self._below(path)), default=None)

    def arrivals_below(self, path: str) -> tuple[datetime, ...]:
        """The instants of all arrivals that count at a path or below it, each once, in order."""
        return tuple(sorted({each.event.arrived for found in self._below(path) for each in found}))

    def _below(self, path: str) -> Iterator[tuple[Delivery, ...]]:
        for leaf in self.collected.by_leaf:
            found = self.at(leaf) if is_below(leaf, path) else ()
            if found:
                yield found
