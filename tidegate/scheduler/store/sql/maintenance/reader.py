"""The reader of maintenance in SQL; what a poll asks is answered by an index."""

from datetime import datetime
from typing import Unpack

from sqlalchemy import and_, bindparam, func, or_, select, union_all

from tidegate.scheduler.model.event import PARTITION_KEY
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.store.sql.columns import Instant, Name
from tidegate.scheduler.store.sql.maintenance import tables
from tidegate.scheduler.store.sql.maintenance.rows import OPERATION_RUNS
from tidegate.scheduler.store.sql.statements.filters import FilteredQueries, Filters
from tidegate.scheduler.store.sql.statements.queries import Statement, every
from tidegate.scheduler.store.sql.tables import events, jobs
from tidegate.scheduler.store.wanted import OperationRunsWanted

BEFORE, BEFORE_JOB = bindparam("before", type_=Instant), bindparam("before_id", type_=Name)
_RECORDS = tables.maintenance_records.c
_RUNS = tables.operation_runs.c
_JOBS = jobs.c
FIRST = union_all(
    select(func.min(_RECORDS.next_look)).where(_RECORDS.next_look.is_not(None)),
    select(func.min(_RUNS.running_until)).where(_RUNS.running_until.is_not(None)),
)
BYTES = select(func.sum(_RUNS.bytes)).where(
    _RUNS.ended_at >= bindparam("since"), _RUNS.ended_at < bindparam("until")
)


RUNS_WANTED = Filters(
    query=every(OPERATION_RUNS),
    value=OPERATION_RUNS.value,
    lists={"jobs": _RUNS.job, "tables": _RUNS.table},
    bounds={
        "running": _RUNS.running_until.is_not(None),
        "started_since": _RUNS.started_at >= bindparam("started_since", type_=Instant),
        # The first condition alone tells the index where to begin.
        "before": and_(_RUNS.started_at <= BEFORE, or_(_RUNS.started_at < BEFORE, _RUNS.job < BEFORE_JOB)),
    },
    limits={"limit": (_RUNS.started_at.desc(), _RUNS.job.desc())},
)


def _keys_written() -> Statement:
    """Return the query for the partitions of the events of a key.

    Each partition is one look-up of the next one in an index; DISTINCT would read all events of the key.
    """
    written = events.c.key == bindparam("key")
    first = select(func.min(events.c.partition).label("partition")).where(
        written, events.c.partition.is_not(None)
    )
    found = first.cte("found", recursive=True)
    following = select(func.min(events.c.partition)).where(written, events.c.partition > found.c.partition)
    step = select(following.scalar_subquery().correlate(found)).where(found.c.partition.is_not(None))
    found = found.union_all(step)
    return select(found.c.partition).where(found.c.partition.is_not(None))


KEYS_WRITTEN = _keys_written()


class MaintenanceReader(FilteredQueries):
    def next_maintenance(self) -> datetime | None:
        found = self._connection.execute(FIRST).scalars()
        return min((each for each in found if each is not None), default=None)

    def operation_runs(self, **wanted: Unpack[OperationRunsWanted]) -> tuple[OperationRun, ...]:
        found = self._wanted(RUNS_WANTED, wanted)
        return tuple(sorted(found, key=lambda run: (run.started_at, run.job)))

    def bytes_rewritten(self, since: datetime, until: datetime) -> int:
        return int(self._connection.execute(BYTES, {"since": since, "until": until}).scalar() or 0)

    def keys_written(self, dataset: str) -> tuple[str, ...]:
        found = self._connection.execute(KEYS_WRITTEN, {"key": f"{PARTITION_KEY}{dataset}"})
        return tuple(found.scalars())
