"""`complete`: a period can be completed only if the dataset's partitions are its parts.

Minutes make up hours, hours days, days weeks, months and years, months years. Weeks make up
nothing longer: a month begins in the middle of one.
"""

from compiler.build.scope import Scope
from compiler.model import Cycle, Dataset, PartitionsTrigger
from compiler.reader.node import Node

PARTS: dict[Cycle, tuple[Cycle, ...]] = {
    "minute": ("minute",),
    "hour": ("minute", "hour"),
    "day": ("minute", "hour", "day"),
    "week": ("minute", "hour", "day", "week"),
    "month": ("minute", "hour", "day", "month"),
    "year": ("minute", "hour", "day", "month", "year"),
}
"""By period: the cycles whose partitions each belong to one such period."""


def check_complete(
    trigger: PartitionsTrigger, dataset: Dataset, place: Node, scope: Scope
) -> bool:
    """Whether the trigger's period can be completed by its dataset; reports why not."""
    time = dataset.partitions.time if dataset.partitions else None
    period = trigger.complete
    if period is None:
        return True
    if time is None:
        scope.findings.add(
            "L403",
            place,
            f'`complete: {period}` needs a dimension of time, got "{dataset.name}", which has none',
            "name the keys with `keys: [...]`",
        )
        return False
    if time.cycle not in PARTS[period]:
        longer = [cycle for cycle, parts in PARTS.items() if time.cycle in parts]
        scope.findings.add(
            "L403",
            place,
            f"a {period} is not made of the partitions of {dataset.name}, got one for each {time.cycle}",
            f"write one of {', '.join(longer)}",
        )
        return False
    return True
