"""The tables of the reference store, beyond those of the store in memory."""

from dataclasses import dataclass, field
from datetime import date

from tidegate.scheduler.model.retention import Snapshot
from tidegate.scheduler.store.memory.tables import Tables

SumKey = tuple[str, date, str, str]
"""Schedule, day, outcome, reason."""


@dataclass(kw_only=True, slots=True)
class ReferenceTables(Tables):
    """One state of the reference store.

    Attributes:
        pruned: kind and name of what was pruned.
        sums: of the ledger, by schedule, day, outcome and reason.
        snapshots: by number.
    """

    pruned: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    sums: dict[SumKey, int] = field(default_factory=dict[SumKey, int])
    snapshots: dict[int, Snapshot] = field(default_factory=dict[int, Snapshot])
