"""Data that is expected, and what was late, in SQL.

    expected_data      a row for each dataset with a deadline; its index has those that are judged next
    expected_periods   a row for each kept period; its indexes have those that were late, and that still are
    late_totals        how often each schedule, task and dataset was late

Jobs that are late are counted by an index of theirs, which has only those that have not ended.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Column, Table, func, select

from tidegate.domain.model import Deadline
from tidegate.domain.model.dataset import PartitionScheme
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod, LateTotal
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, Statement, every
from tidegate.scheduler.store.sql.tables import jobs
from tidegate.scheduler.store.wanted import LateWanted

expected_data = Table(
    "expected_data",
    metadata,
    Column("dataset", Name, primary_key=True),
    Column("deadline", Json(Deadline), nullable=False),
    Column("partitions", Json(PartitionScheme)),
    Column("zone", Name, nullable=False),
    Column("since", Instant, nullable=False),
    Column("updated_at", Instant),
    Column("period", Name, nullable=False),
    Column("due_at", Instant),
)
_DUE = expected_data.c.due_at
partial_index("ix_expected_data_due", _DUE, expected_data.c.dataset, where=_DUE.is_not(None))

expected_periods = Table(
    "expected_periods",
    metadata,
    Column("dataset", Name, primary_key=True),
    Column("period", Name, primary_key=True),
    Column("landed", Json(dict[str, datetime]), nullable=False),
    Column("due_at", Instant),
    Column("late_at", Instant),
    Column("missing", Json(tuple[str, ...]), nullable=False),
    Column("landed_at", Instant),
    Column("app", Name, nullable=False),
    # `due_at` of a period that was late, and of one that still is.
    Column("was_late", Instant),
    Column("is_late", Instant),
)
_PERIODS = expected_periods.c
_WAS_LATE, _IS_LATE = _PERIODS.was_late.is_not(None), _PERIODS.is_late.is_not(None)
_DATASET, _PERIOD = _PERIODS.dataset, _PERIODS.period
partial_index("ix_expected_periods_late", _PERIODS.was_late, _DATASET, _PERIOD, where=_WAS_LATE)
partial_index("ix_expected_periods_late_of", _DATASET, _PERIODS.was_late, where=_WAS_LATE)
partial_index("ix_expected_periods_late_now", _PERIODS.is_late, _DATASET, _PERIOD, where=_IS_LATE)

late_totals = Table(
    "late_totals",
    metadata,
    Column("kind", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("number", BigInteger, nullable=False),
)

DATA = Codec(expected_data, ExpectedData)
PERIODS = Codec(
    expected_periods,
    ExpectedPeriod,
    derived={
        "app": lambda period: app_of(period.dataset),
        "was_late": lambda period: None if period.late_at is None else period.due_at,
        "is_late": lambda period: period.due_at if period.late_now else None,
    },
)
TOTALS = Codec(late_totals, LateTotal)


def _newest(late_since: Column[datetime]) -> Statement:
    """Return the query for periods that have an instant in a column, the newest first."""
    found = every(PERIODS).where(late_since.is_not(None))
    return found.order_by(late_since.desc(), _DATASET, _PERIOD).limit(LIMIT)


LATE, LATE_NOW = _newest(_PERIODS.was_late), _newest(_PERIODS.is_late)
_LATE_OF = jobs.c.late_of
LATE_JOBS = select(_LATE_OF, func.count()).where(_LATE_OF.is_not(None)).group_by(_LATE_OF).order_by(_LATE_OF)


class ExpectedReader(Queries):
    """Reads what was late; periods by their keys are records (`by_key`)."""

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        query = LATE_NOW if wanted.now else LATE
        among, same = {_PERIODS.app: wanted.apps}, {_DATASET: wanted.dataset}
        return tuple(self._all(query, PERIODS.value, among, same, limit=limit))

    def late_jobs(self) -> dict[str, int]:
        return {row[0]: row[1] for row in self._connection.execute(LATE_JOBS).all()}
