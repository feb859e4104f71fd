"""The partitions of datasets in SQL.

Each key is a look-up of its own in `ix_events_partition`. To group the events of a dataset by partition would
read all of them.
"""

from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import Text, bindparam, func, select
from sqlalchemy.sql.selectable import TableValuedAlias

from tidegate.scheduler.model.event import PARTITION_KEY
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.store.answers import WHOLE, Landing, PartitionState
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT
from tidegate.scheduler.store.sql.retention.tables import pruned
from tidegate.scheduler.store.sql.statements.bulk import given, listed, newest_of
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, Statement

_EVENTS, _TAKEN, _JOBS = tables.events.c, tables.deliveries.c, tables.jobs.c
_OF_DATASET = _EVENTS.key == bindparam("key", type_=Text)
_SHOWN = (_EVENTS.id, _EVENTS.arrived, _EVENTS.rows, _EVENTS.bytes, _EVENTS.run_id)

NEWEST_WHOLE = (
    select(*_SHOWN)
    .where(_OF_DATASET, _EVENTS.partition.is_(None))
    .order_by(_EVENTS.arrived.desc(), _EVENTS.id.desc())
    .limit(1)
)
COUNT_WHOLE = select(func.count()).select_from(
    select(_EVENTS.id).where(_OF_DATASET, _EVENTS.partition.is_(None)).limit(LIMIT).subquery("found")
)
TAKEN = (
    select(_TAKEN.event, _JOBS.state)
    .join_from(tables.deliveries, tables.jobs, _JOBS.id == _TAKEN.job, isouter=True)
    .join(pruned, (pruned.c.kind == PrunedKind.DISCARDED_JOB) & (pruned.c.id == _TAKEN.job), isouter=True)
    .where(_TAKEN.reason.is_(None), _TAKEN.job != tables.NO_JOB, pruned.c.id.is_(None))
)
"""What has taken events: the states of the jobs, None for one that was pruned and not discarded."""


@cache
def _newest(dialect: str) -> Statement:
    """Return the query for the newest event of each key."""
    wanted = given(dialect, "keys")
    return newest_of(dialect, wanted, _SHOWN, _among(wanted), by=_EVENTS.arrived)


@cache
def _landings(dialect: str) -> Statement:
    """Return the query for the newest event of each dataset."""
    wanted = given(dialect, "keys")
    same = (_EVENTS.key == wanted.c.value,)
    return newest_of(
        dialect, wanted, (_EVENTS.id, _EVENTS.partition, _EVENTS.arrived), same, by=_EVENTS.arrived
    )


@cache
def _ends(dialect: str) -> Statement:
    """Return the query for the first and the last key with each prefix."""
    wanted = given(dialect, "keys")
    within = (
        _OF_DATASET,
        _EVENTS.partition >= wanted.c.value,
        _EVENTS.partition <= wanted.c.value + LAST_CODE_POINT,
    )
    ends = (select(end(_EVENTS.partition)).where(*within).correlate(wanted) for end in (func.min, func.max))
    return select(*(each.scalar_subquery() for each in ends)).select_from(wanted)


@cache
def _reports(dialect: str) -> Statement:
    """Return the query for the number of events of each key, up to the parameter `limit`."""
    wanted = given(dialect, "keys")
    found = select(_EVENTS.partition).where(*_among(wanted)).limit(LIMIT).correlate(wanted).subquery("found")
    return select(wanted.c.value, select(func.count()).select_from(found).scalar_subquery())


def _among(wanted: TableValuedAlias) -> tuple[Any, ...]:
    return _OF_DATASET, _EVENTS.partition == wanted.c.value


class PartitionReader(Queries):
    def partition_states(self, dataset: str, keys: Collection[str]) -> tuple[PartitionState, ...]:
        rows: list[Any] = []
        if WHOLE in keys:
            found = self._connection.execute(NEWEST_WHOLE, {"key": f"{PARTITION_KEY}{dataset}"}).all()
            rows += [(WHOLE, *row) for row in found]
        if named := set(keys) - {WHOLE}:
            rows += self._connection.execute(_newest(self._dialect), self._bound(dataset, named)).all()
        taken: dict[str, set[JobState | None]] = {}
        for event, state in self._all(
            TAKEN, tuple[str, JobState | None], {_TAKEN.event: [r[1] for r in rows]}
        ):
            taken.setdefault(event, set()).add(state)
        found_states = (_state(row, taken.get(row[1], set())) for row in rows)
        return tuple(sorted(found_states, key=lambda each: each.key))

    def landings(self, datasets: Collection[str]) -> tuple[Landing, ...]:
        keys = listed(self._dialect, [f"{PARTITION_KEY}{dataset}" for dataset in datasets])
        rows = self._connection.execute(_landings(self._dialect), {"keys": keys}).all()
        found = (
            Landing(dataset=key.removeprefix(PARTITION_KEY), partition=partition or WHOLE, at=at)
            for key, _, partition, at in rows
        )
        return tuple(sorted(found, key=lambda each: each.dataset))

    def partition_ends(self, dataset: str, prefixes: Collection[str]) -> tuple[tuple[str, str], ...]:
        rows = self._connection.execute(_ends(self._dialect), self._bound(dataset, prefixes)).all()
        return tuple(sorted((first, last) for first, last in rows if first is not None))

    def partition_reports(self, dataset: str, keys: Collection[str], most: int) -> dict[str, int]:
        bound: dict[str, Any] = {**self._bound(dataset, set(keys) - {WHOLE}), "limit": most}
        found = dict(self._all(_reports(self._dialect), tuple[str, int], **bound))
        if WHOLE in keys:
            whole = {"key": bound["key"], "limit": most}
            found[WHOLE] = self._connection.execute(COUNT_WHOLE, whole).scalar_one()
        return found

    def _bound(self, dataset: str, keys: Collection[str]) -> dict[str, Any]:
        return {"key": f"{PARTITION_KEY}{dataset}", "keys": listed(self._dialect, keys)}


def _state(row: Any, taken: Collection[JobState | None]) -> PartitionState:
    key, event, at, rows, bytes_, run = row
    return PartitionState(
        key=key,
        event=event,
        at=at,
        rows=rows,
        bytes=bytes_,
        published=run is not None,
        consumed=JobState.SUCCEEDED in taken or None in taken,
        failed=JobState.FAILED in taken,
    )
