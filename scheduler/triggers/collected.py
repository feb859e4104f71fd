"""What a job has collected, as the triggers want to see it: by leaf, in order of arrival."""

from collections.abc import Mapping
from datetime import datetime

from compiler.model import Dataset
from compiler.value import Value
from scheduler.event import Delivery
from scheduler.slice import Slice


class Collected(Value, kw_only=True):
    """The deliveries of one job by leaf path.

    Attributes:
        key: the job's `for_each` key, "" where events are pooled.
        first_event_at: arrival of the job's first event.
        datasets: of the app, for their partition schemes.
    """

    by_leaf: Mapping[str, tuple[Delivery, ...]]
    key: str
    first_event_at: datetime | None
    datasets: Mapping[str, Dataset]

    def at(self, path: str) -> tuple[Delivery, ...]:
        """What the leaf at this path has received, in order of arrival."""
        return self.by_leaf.get(path, ())

    def anything_below(self, path: str) -> bool:
        """Whether any leaf of the composite at this path has received something."""
        prefix = f"{path}." if path else ""
        return any(leaf == path or leaf.startswith(prefix) for leaf in self.by_leaf)


def collected(part: Slice) -> Collected:
    """What the job of a slice has collected."""
    by_leaf: dict[str, list[Delivery]] = {}
    for delivery in part.deliveries:
        by_leaf.setdefault(delivery.leaf, []).append(delivery)
    return Collected(
        by_leaf={leaf: tuple(found) for leaf, found in by_leaf.items()},
        key=part.job.key,
        first_event_at=part.job.first_event_at,
        datasets=part.app.datasets,
    )
