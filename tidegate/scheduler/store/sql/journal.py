"""The table of the journal, and the indexes by which its entries are read."""

from sqlalchemy import Column, Index, Table, Text, text

from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.sql.columns import Coded, Instant, Json, Name, Serial
from tidegate.scheduler.store.sql.metadata import metadata

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
Index("ix_journal_renames", JOURNAL_TABLE.c.number, sqlite_where=IS_RENAME, postgresql_where=IS_RENAME)
IS_DEPLOYMENT = text("kind = 'deploy'")
Index(
    "ix_journal_deployments",
    JOURNAL_TABLE.c.number,
    sqlite_where=IS_DEPLOYMENT,
    postgresql_where=IS_DEPLOYMENT,
)
