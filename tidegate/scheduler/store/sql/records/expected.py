"""Data that is expected, and what was late, in SQL."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, Column, Connection, Index, Table, bindparam, delete, func, select

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.model import Deadline
from tidegate.domain.model.dataset import PartitionScheme
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod, LateTotal
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT, Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.moves import move, move_prefix
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, every
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
Index(
    "ix_expected_data_due",
    expected_data.c.due_at,
    expected_data.c.dataset,
    sqlite_where=expected_data.c.due_at.is_not(None),
    postgresql_where=expected_data.c.due_at.is_not(None),
)
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
for _name, _columns in {
    "ix_expected_periods_late": (_PERIODS.was_late, _PERIODS.dataset, _PERIODS.period),
    "ix_expected_periods_late_of": (_PERIODS.dataset, _PERIODS.was_late),
    "ix_expected_periods_late_now": (_PERIODS.is_late, _PERIODS.dataset, _PERIODS.period),
}.items():
    _late = (_PERIODS.is_late if _name.endswith("now") else _PERIODS.was_late).is_not(None)
    Index(_name, *_columns, sqlite_where=_late, postgresql_where=_late)

_LATE_OF = tables.jobs.c.late_of
Index(
    "ix_jobs_late",
    _LATE_OF,
    sqlite_where=_LATE_OF.is_not(None),
    postgresql_where=_LATE_OF.is_not(None),
)

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
        "app": lambda each: app_of(each.dataset),
        "was_late": lambda each: None if each.late_at is None else each.due_at,
        "is_late": lambda each: each.due_at if each.late_now else None,
    },
)
TOTALS = Codec(late_totals, LateTotal)

ALL_DATA = every(DATA).order_by(expected_data.c.dataset)
DUE = (
    every(DATA)
    .where(expected_data.c.due_at <= bindparam("now"))
    .order_by(expected_data.c.due_at, expected_data.c.dataset)
    .limit(LIMIT)
)
NEXT = select(func.min(expected_data.c.due_at, type_=Instant())).where(expected_data.c.due_at.is_not(None))
ALL_PERIODS = every(PERIODS).order_by(_PERIODS.period)
LATE = (
    every(PERIODS)
    .where(_PERIODS.was_late.is_not(None))
    .order_by(_PERIODS.was_late.desc(), _PERIODS.dataset, _PERIODS.period)
    .limit(LIMIT)
)
LATE_NOW = (
    every(PERIODS)
    .where(_PERIODS.is_late.is_not(None))
    .order_by(_PERIODS.is_late.desc(), _PERIODS.dataset, _PERIODS.period)
    .limit(LIMIT)
)
OLD = (
    select(_PERIODS.dataset, _PERIODS.period)
    .where(_PERIODS.was_late < bindparam("before"))
    .order_by(_PERIODS.was_late, _PERIODS.dataset, _PERIODS.period)
    .limit(LIMIT)
)
ALL_TOTALS = every(TOTALS).order_by(late_totals.c.kind, late_totals.c.name)
LATE_JOBS = select(_LATE_OF, func.count()).where(_LATE_OF.is_not(None)).group_by(_LATE_OF).order_by(_LATE_OF)


class ExpectedReader(Queries):
    def expected_data(self, datasets: Collection[str] | None = None) -> tuple[ExpectedData, ...]:
        return tuple(self._all(ALL_DATA, DATA.value, {expected_data.c.dataset: datasets}))

    def due_data(self, now: datetime, limit: int) -> tuple[ExpectedData, ...]:
        return tuple(self._all(DUE, DATA.value, now=now, limit=limit))

    def next_due_data(self) -> datetime | None:
        found: datetime | None = self._connection.execute(NEXT).scalar()
        return found

    def expected_periods(self, dataset: str, periods: Collection[str]) -> tuple[ExpectedPeriod, ...]:
        same = {_PERIODS.dataset: dataset}
        return tuple(self._all(ALL_PERIODS, PERIODS.value, {_PERIODS.period: periods}, same))

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        query = LATE_NOW if wanted.now else LATE
        among, same = {_PERIODS.app: wanted.apps}, {_PERIODS.dataset: wanted.dataset}
        return tuple(self._all(query, PERIODS.value, among, same, limit=limit))

    def late_totals(self, names: Collection[str] | None = None) -> tuple[LateTotal, ...]:
        return tuple(self._all(ALL_TOTALS, TOTALS.value, {late_totals.c.name: names}))

    def late_jobs(self) -> dict[str, int]:
        return {row[0]: row[1] for row in self._connection.execute(LATE_JOBS).all()}


class ExpectedWriter(ExpectedReader, Changes):
    def put_expected_data(self, data: Sequence[ExpectedData]) -> None:
        self._put(DATA, data)

    def drop_expected_data(self, datasets: Collection[str]) -> None:
        self._delete(expected_data.c.dataset, datasets)
        self._delete(_PERIODS.dataset, datasets)

    def put_expected_periods(self, periods: Sequence[ExpectedPeriod]) -> None:
        self._put(PERIODS, periods)

    def drop_expected_periods(self, dataset: str, periods: Collection[str]) -> None:
        rows = [(dataset, period) for period in periods]
        bulk.delete(self._connection, expected_periods, ("dataset", "period"), rows)

    def drop_late_periods(self, before: datetime, limit: int) -> int:
        old = [tuple(row) for row in self._connection.execute(OLD, {"before": before, "limit": limit}).all()]
        bulk.delete(self._connection, expected_periods, ("dataset", "period"), old)
        return len(old)

    def put_late_totals(self, totals: Sequence[LateTotal]) -> None:
        self._put(TOTALS, totals)


def rename_expected(connection: Connection, names: Renames) -> None:
    """Give what is expected, and what was late, the new names of datasets, schedules and tasks."""
    total = late_totals.c
    for old, new in names.datasets.items():
        for column in (expected_data.c.dataset, _PERIODS.dataset):
            connection.execute(delete(column.table).where(column == new))
            move(connection, column, old, new)
        connection.execute(
            expected_periods.update().where(_PERIODS.dataset == new).values({_PERIODS.app: app_of(new)})
        )
        connection.execute(delete(late_totals).where(total.kind == "dataset", total.name == new))
        connection.execute(
            late_totals.update().where(total.kind == "dataset", total.name == old).values({total.name: new})
        )
    for old, new in names.schedules.items():
        connection.execute(delete(late_totals).where(total.kind != "dataset", total.name == new))
        connection.execute(
            late_totals.update().where(total.kind != "dataset", total.name == old).values({total.name: new})
        )
    for old, new in names.apps.items():
        first, rest = f"{new}/", func.substr(total.name, len(old) + 2)
        under = total.name.between(first, first + LAST_CODE_POINT), total.kind != "dataset"
        connection.execute(delete(late_totals).where(*under))
        connection.execute(
            late_totals.update()
            .where(total.name.between(f"{old}/", f"{old}/{LAST_CODE_POINT}"), total.kind != "dataset")
            .values({total.name: first + rest})
        )
        move_prefix(connection, tables.jobs.c.late_of, f"{old}/", f"{new}/")
