"""What a job has collected, as the engine sees it, made from single deliveries."""

from collections.abc import Iterable, Mapping

from tidegate.domain.model import Dataset
from tidegate.scheduler.decision.triggers.collected import Collected, in_order
from tidegate.scheduler.model.event import Delivery


def collected(deliveries: Iterable[Delivery], datasets: Mapping[str, Dataset]) -> Collected:
    """Sort deliveries by leaf, each leaf in the order of arrival."""
    by_leaf: dict[str, tuple[Delivery, ...]] = {}
    for delivery in sorted(deliveries, key=in_order):
        by_leaf[delivery.leaf] = (*by_leaf.get(delivery.leaf, ()), delivery)
    return Collected(by_leaf=by_leaf, key="", datasets=datasets)
