"""What deployments wrote, in memory."""

from collections.abc import Collection, Sequence

from tidegate.scheduler.model.records.specification import Specification
from tidegate.scheduler.store.memory.tables import Tables


class SpecificationReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def specifications(self, until: int, *, apps: Collection[str] | None = None) -> tuple[Specification, ...]:
        found: dict[str, Specification] = {}
        for (ref, number), each in sorted(self._tables.specifications.items()):
            if number <= until and (apps is None or each.app in apps):
                found[ref] = each
        return tuple(found.values())


class SpecificationWriter(SpecificationReader):
    def put_specifications(self, specifications: Sequence[Specification]) -> None:
        self._tables.own("specifications")
        self._tables.specifications.update({(each.ref, each.number): each for each in specifications})
