"""`complete`: a period can be completed only if the dataset's partitions are its parts.

Minutes make up hours, hours days, days weeks, months and years, months years. Weeks make up
nothing longer: a month begins in the middle of one.
"""

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import Node
from tidegate.domain.model import Cycle, Dataset
from tidegate.domain.time.cycle import CYCLES, nests_in
from tidegate.domain.wording import with_article


def check_complete(period: Cycle, dataset: Dataset, place: Node, scope: Scope) -> bool:
    """Return whether a trigger's period can be completed by its dataset; reports why not."""
    time = dataset.partitions.time if dataset.partitions else None
    if time is None:
        scope.findings.add(
            "L403",
            place,
            f'`complete: {period}` needs a dimension of time, got "{dataset.name}", which has none',
            "name the keys with `keys: [...]`",
        )
        return False
    if not nests_in(time.cycle, period):
        longer = [cycle for cycle in CYCLES if nests_in(time.cycle, cycle)]
        scope.findings.add(
            "L403",
            place,
            f"{with_article(period)} is not made of the partitions of {dataset.name},"
            f" got one for each {time.cycle}",
            f"write one of {', '.join(longer)}",
        )
        return False
    return True
