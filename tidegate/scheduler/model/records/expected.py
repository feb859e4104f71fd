"""What is expected of datasets with a deadline: the next period that is judged, and the kept periods.

    deployed ──► ExpectedData ──► its deadline passes ──► has the period landed? ──yes──► the next period
                                                              │no
                              ExpectedPeriod: late_at ────────┘ ──► landed_at, when it has landed after all

A period is kept while parts of it land before it is judged, and once it was late. So a tick asks an index
which deadline has passed, and reads no events.
"""

from datetime import datetime

from tidegate.domain.model import Deadline
from tidegate.domain.model.dataset import PartitionScheme
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class ExpectedData(Value, kw_only=True):
    """A dataset with a deadline, as it was deployed.

    Attributes:
        dataset: "app/name".
        zone: of its times of the day: that of its partitions, else of its app.
        since: when it was deployed with a deadline; periods that ended before are not expected.
        updated_at: when it landed last, of a dataset without partitions; None: never since.
        period: key of the period that is judged next; without partitions the name of that update.
        due_at: until when that period has to have landed; None while nothing is expected before an update.
    """

    dataset: str
    deadline: Deadline
    partitions: PartitionScheme | None = None
    zone: str
    since: datetime
    updated_at: datetime | None = None
    period: str = ""
    due_at: datetime | None = None


class ExpectedPeriod(Value, kw_only=True):
    """A period of a dataset that lands in parts, or that was late.

    Attributes:
        dataset: "app/name".
        period: its key, without the part of a list of keys.
        landed: when each of its partitions (keys) landed.
        due_at: until when it had to have landed; None until it is judged.
        late_at: when it was noted as late; None before.
        missing: the partitions that had not landed then.
        landed_at: when all of them had landed, of one that was late.
    """

    dataset: str
    period: str
    landed: dict[str, datetime] = {}
    due_at: datetime | None = None
    late_at: datetime | None = None
    missing: tuple[str, ...] = ()
    landed_at: datetime | None = None

    @property
    def late_now(self) -> bool:
        """Whether it was late and has not landed yet."""
        return self.late_at is not None and self.landed_at is None


class LateTotal(Value, kw_only=True):
    """How often a schedule, task or dataset has been late since it was first noted.

    Attributes:
        kind: schedule, task or dataset.
        name: "app/name".
    """

    kind: str
    name: str
    number: int


EXPECTED_DATA = Kind(name="expected_data", value=ExpectedData, key=("dataset",), due="due_at")
EXPECTED_PERIODS = Kind(name="expected_periods", value=ExpectedPeriod, key=("dataset", "period"))
LATE_TOTALS = Kind(name="late_totals", value=LateTotal, key=("kind", "name"))
