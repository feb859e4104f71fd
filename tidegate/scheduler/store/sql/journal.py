"""The journal in SQL: its table, and the indexes by which its entries are read."""

from datetime import datetime
from typing import Unpack

from sqlalchemy import Column, Index, Integer, Table, Text, bindparam, func, select, text

from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.answers import Numbered
from tidegate.scheduler.store.sql.columns import Codec, Coded, Instant, Json, Name, Row, Serial
from tidegate.scheduler.store.sql.metadata import metadata, partial_index
from tidegate.scheduler.store.sql.statements.filters import FilteredQueries, Filters
from tidegate.scheduler.store.sql.statements.queries import every
from tidegate.scheduler.store.wanted import JournalWanted

JOURNAL_TABLE = Table(
    "journal",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    Column("at", Instant, nullable=False),
    Column("kind", Coded(EntryKind), nullable=False),
    Column("schedule", Name),
    Column("job", Name),
    Column("run_id", Name),
    Column("event", Name),
    Column("reason", Text),
    Column("data", Json(), nullable=False),
    sqlite_autoincrement=True,
)
Index("ix_journal_at", JOURNAL_TABLE.c.at)
Index("ix_journal_schedule", JOURNAL_TABLE.c.schedule, JOURNAL_TABLE.c.number)
Index("ix_journal_job", JOURNAL_TABLE.c.job, JOURNAL_TABLE.c.number)
IS_RENAME = text("kind = 'rename'")
partial_index("ix_journal_renames", JOURNAL_TABLE.c.number, where=IS_RENAME)
IS_DEPLOYMENT = text("kind = 'deploy'")
partial_index("ix_journal_deployments", JOURNAL_TABLE.c.number, where=IS_DEPLOYMENT)
IN_ONE_INDEX = {EntryKind.RENAME: "renames", EntryKind.DEPLOY: "deployments"}
"""Kinds whose entries an index has alone, where a query says so word for word."""

JOURNAL = Codec(JOURNAL_TABLE, Entry)
_NUMBER, _AT = JOURNAL_TABLE.c.number, JOURNAL_TABLE.c.at


def _numbered(row: Row) -> Numbered:
    return Numbered(number=row[-1], entry=JOURNAL.value(row))


WANTED = Filters(
    query=every(JOURNAL).add_columns(_NUMBER),
    value=_numbered,
    lists={"kinds": JOURNAL_TABLE.c.kind},
    equals={"schedule": JOURNAL_TABLE.c.schedule, "job": JOURNAL_TABLE.c.job},
    bounds={
        "renames": IS_RENAME,
        "deployments": IS_DEPLOYMENT,
        "since": bindparam("since", type_=Instant) <= _AT,
        "to": bindparam("to", type_=Instant) >= _AT,
        "after": bindparam("after", type_=Integer) < _NUMBER,
        "before": bindparam("before", type_=Integer) > _NUMBER,
        "until": bindparam("until", type_=Integer) >= _NUMBER,
    },
    limits={"first": (_NUMBER,), "limit": (_NUMBER.desc(),)},
)
NEWEST_DEPLOYMENT = select(_NUMBER, _AT).where(IS_DEPLOYMENT).order_by(_NUMBER.desc()).limit(1)
ENDS = select(
    # Each by itself is a look at an end of the table; SQLite would read all of it for both in one.
    select(func.min(_NUMBER)).scalar_subquery(),
    select(func.max(_NUMBER)).scalar_subquery(),
)


class JournalReader(FilteredQueries):
    def journal(self, **wanted: Unpack[JournalWanted]) -> tuple[Entry, ...]:
        return tuple(row.entry for row in self.journal_page(**wanted))

    def journal_page(self, **wanted: Unpack[JournalWanted]) -> tuple[Numbered, ...]:
        kinds = wanted.get("kinds")
        index = None if kinds is None or len(kinds) != 1 else IN_ONE_INDEX.get(next(iter(kinds)))
        given = wanted if index is None else {**wanted, "kinds": None, index: True}
        found = self._wanted(WANTED, given)
        return tuple(sorted(found, key=lambda row: row.number))

    def journal_ends(self) -> tuple[int, int]:
        first, last = self._connection.execute(ENDS).one()
        return first or 0, last or 0

    def newest_deployment(self) -> tuple[int, datetime] | None:
        row = self._connection.execute(NEWEST_DEPLOYMENT).one_or_none()
        return None if row is None else (row.number, row.at)
