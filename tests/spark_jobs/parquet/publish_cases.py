"""What a publish in each write mode makes of two tables; killed anywhere, it makes that or nothing."""

from dataclasses import dataclass

from tests.spark_jobs.staging import Rows, daily, whole
from tidegate.domain.model import WriteMode
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a publish makes of two tables, one with partitions and one without."""

    write: WriteMode
    before: dict[str, Rows]
    written: dict[str, Rows]
    after: dict[str, Rows]

    def ref(self, name: str) -> DatasetRef:
        return daily("table", self.write) if name == "table" else whole("totals", self._of_whole())

    def _of_whole(self) -> WriteMode:
        return "full" if self.write == "overwrite_partitions" else self.write


D21, D22, D23, D24 = (f"2013-12-{day}" for day in (21, 22, 23, 24))
BEFORE: dict[str, Rows] = {"table": {D21: [1], D22: [2], D23: [3]}, "totals": {"": [6]}}
# Rows for a partition that has some, none for another, and a new one; and a table without partitions.
WRITTEN: dict[str, Rows] = {"table": {D22: [20, 21], D23: [], D24: [40]}, "totals": {"": [82]}}
REPLACE = Case(
    write="overwrite_partitions",
    before=BEFORE,
    written=WRITTEN,
    after={"table": {D21: [1], D22: [20, 21], D23: [], D24: [40]}, "totals": {"": [82]}},
)
FULL = Case(
    write="full",
    before=BEFORE,
    written=WRITTEN,
    after={"table": {D22: [20, 21], D23: [], D24: [40]}, "totals": {"": [82]}},
)
APPEND = Case(
    write="append",
    before=BEFORE,
    written=WRITTEN,
    after={"table": {D21: [1], D22: [2, 20, 21], D23: [3], D24: [40]}, "totals": {"": [6, 82]}},
)
# Rows with the same tens are the same row: some are replaced in one table, and all in the other.
MERGE = Case(
    write="merge",
    before={"table": {D21: [10], D22: [10, 20, 30], D23: [10]}, "totals": {"": [10]}},
    written={"table": {D22: [21, 50], D23: [], D24: [40]}, "totals": {"": [11, 20]}},
    after={"table": {D21: [10], D22: [10, 30, 21, 50], D23: [10], D24: [40]}, "totals": {"": [11, 20]}},
)
