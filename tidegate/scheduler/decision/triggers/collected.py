"""What a job has collected, as the triggers want to see it: by leaf, in order of arrival."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tidegate.domain.model import Dataset, leaves
from tidegate.domain.value import Value
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.model.event import Delivery, listens_to

Limits = Mapping[str, timedelta | None]
"""How old what came for a leaf may be, by path, as the `collect_within` above it say; None is for ever."""


class Collected(Value, kw_only=True):
    """The deliveries of one job by leaf path, by arrival, then event id.

    Attributes:
        key: the job's `for_each` key, "" where events are pooled.
        datasets: of the app, for their partition schemes.
    """

    by_leaf: Mapping[str, tuple[Delivery, ...]]
    key: str
    datasets: Mapping[str, Dataset]


def collected(view: JobView) -> Collected:
    """What the job has collected.

    A dead letter that is queued again under a changed schedule has what no leaf listens to any more. It
    is launched with it, but that counts nowhere.
    """
    job, program = view.job, view.schedule.program
    heard = {
        leaf.path: listens_to(job.app, job.schedule, leaf, program)[0]
        for leaf in leaves(view.schedule.trigger)
    }
    by_leaf: dict[str, list[Delivery]] = {}
    for delivery in sorted(view.deliveries, key=in_order):
        if heard.get(delivery.leaf) == delivery.event.key:
            by_leaf.setdefault(delivery.leaf, []).append(delivery)
    return Collected(
        by_leaf={leaf: tuple(found) for leaf, found in by_leaf.items()},
        key=view.job.key,
        datasets=view.app.datasets,
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
class Scope:
    """The arrivals that one part of a trigger may count.

    A `sequence` hides what came before a member's turn, a `collect_within` what is too old. Nobody
    sees what will have arrived only after `now`.

    Attributes:
        later_than: what came then or before is hidden.
        limits: how old what came may be and still count.
        cuts: below each of these paths, what came before the instant is gone from the job.
    """

    collected: Collected
    now: datetime
    limits: Limits = field(default_factory=dict[str, timedelta | None])
    later_than: datetime | None = None
    cuts: tuple[tuple[str, datetime], ...] = ()

    def after(self, instant: datetime) -> "Scope":
        """Only what came strictly later than an instant."""
        if self.later_than is not None and self.later_than >= instant:
            return self
        return replace(self, later_than=instant)

    def since(self, path: str, instant: datetime) -> "Scope":
        """Of what came below a path, only what came at an instant or later."""
        return replace(self, cuts=(*self.cuts, (path, instant)))

    def at(self, path: str) -> tuple[Delivery, ...]:
        """What the leaf at a path may count, in order of arrival."""
        found = self.in_job(path)
        first = 0 if self.later_than is None else bisect_right(found, self.later_than, key=_arrived)
        return found[first:]

    def in_job(self, path: str) -> tuple[Delivery, ...]:
        """What the job has for the leaf at a path, hidden or not, in order of arrival."""
        found = self.collected.by_leaf.get(path, ())
        first, end = 0, len(found)
        for cut, instant in self.cuts:
            if is_below(path, cut):
                first = max(first, bisect_left(found, instant, key=_arrived))
        if found and found[-1].event.arrived > self.now:
            end = bisect_right(found, self.now, key=_arrived)
        return found[first:end]

    def arrivals_below(self, path: str) -> tuple[datetime, ...]:
        """The instants of all arrivals that count at a path or below it, each once, in order."""
        leaves = self.leaves_below(path)
        return tuple(sorted({each.event.arrived for leaf in leaves for each in self.at(leaf)}))

    def leaves_below(self, path: str) -> Iterator[str]:
        """The leaves at a path or below it for which something has come."""
        return (leaf for leaf in self.collected.by_leaf if is_below(leaf, path))
