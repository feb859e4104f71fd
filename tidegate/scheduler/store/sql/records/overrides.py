"""Overrides in SQL. The index of the clock has only those that expire."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Column, Index, Table, Text, bindparam

from tidegate.domain.model import Schedule
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, every

overrides = Table(
    "overrides",
    metadata,
    Column("ref", Name, primary_key=True),
    Column("kind", Name, primary_key=True),
    Column("app", Name, nullable=False),
    Column("owner", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("since", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("spec", Json(Schedule)),
    Column("status", Text),
)
Index("ix_overrides_app", overrides.c.app)
Index(
    "ix_overrides_expires",
    overrides.c.expires_at,
    sqlite_where=overrides.c.expires_at.is_not(None),
    postgresql_where=overrides.c.expires_at.is_not(None),
)

OVERRIDES = Codec(overrides, Override, derived={"app": lambda each: each.app})
ALL_OVERRIDES = every(OVERRIDES).order_by(overrides.c.ref, overrides.c.kind)
EXPIRING = (
    every(OVERRIDES)
    .where(overrides.c.expires_at <= bindparam("until", type_=Instant()))
    .order_by(overrides.c.expires_at, overrides.c.ref, overrides.c.kind)
    .limit(LIMIT)
)


class OverrideReader(Queries):
    def overrides(
        self, *, app: str | None = None, refs: Collection[str] | None = None
    ) -> tuple[Override, ...]:
        lists, same = {overrides.c.ref: refs}, {overrides.c.app: app}
        return tuple(self._all(ALL_OVERRIDES, OVERRIDES.value, lists, same))

    def expiring(self, until: datetime, limit: int) -> tuple[Override, ...]:
        return tuple(self._all(EXPIRING, OVERRIDES.value, until=until, limit=limit))


class OverrideWriter(OverrideReader, Changes):
    def put_overrides(self, overrides: Sequence[Override]) -> None:
        self._put(OVERRIDES, overrides)

    def delete_overrides(self, overrides: Sequence[Override]) -> None:
        keys = sorted({(each.ref, each.kind) for each in overrides})
        bulk.delete(self._connection, OVERRIDES.table, ("ref", "kind"), keys)
