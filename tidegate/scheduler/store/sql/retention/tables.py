"""The tables of retention in SQL.

pruned        the names of pruned events, runs and discarded jobs, so that none of them happens twice
ledger_sums   what the ledger counts of pruned events, by day
snapshots     states of the store, from which `why --at` reads the journal on
"""

from sqlalchemy import BigInteger, Column, Date, Index, LargeBinary, Table

from tidegate.scheduler.store.sql.columns import Instant, Name
from tidegate.scheduler.store.sql.metadata import metadata

pruned = Table(
    "pruned",
    metadata,
    Column("kind", Name, primary_key=True),
    Column("id", Name, primary_key=True),
    sqlite_with_rowid=False,
)

ledger_sums = Table(
    "ledger_sums",
    metadata,
    Column("schedule", Name, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("outcome", Name, primary_key=True),
    Column("reason", Name, primary_key=True),
    Column("events", BigInteger, nullable=False),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("state", LargeBinary, nullable=False),
)
Index("ix_snapshots_at", snapshots.c.at)
