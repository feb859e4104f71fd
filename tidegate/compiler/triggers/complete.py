"""The rule for `complete`: the partitions of the dataset must make up the period.

Minutes make up hours, hours make up days, days make up weeks, months and years, and months make up years.
Weeks do not make up months or years, which begin in the middle of a week.
"""

from tidegate.compiler.reader.node import Node
from tidegate.compiler.scope.scope import Scope
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
            f'`complete: {period}` needs a time dimension, got "{dataset.name}" without one',
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
