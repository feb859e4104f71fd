"""The totals: how many rows of some kind there are, so that no reader counts them.

    kind      place      label      reason
    events    app        kind
    launches  app
    runs      app        status
    jobs      app        state      reason      finished jobs only
    ledger    schedule   outcome    reason      events of finished jobs, and the daily sums
    outcomes  app        outcome    reason      the same by app

A transaction adds what it changes, and is one of a queue of writers. So a total is exact at each instant.
"""

from sqlalchemy import BigInteger, Column, Table

from tidegate.scheduler.store.sql.columns import Name
from tidegate.scheduler.store.sql.metadata import metadata

EVENTS, LAUNCHES, RUNS, JOBS = "events", "launches", "runs", "jobs"
LEDGER, OUTCOMES = "ledger", "outcomes"

totals = Table(
    "totals",
    metadata,
    Column("kind", Name, primary_key=True),
    Column("place", Name, primary_key=True),
    Column("label", Name, primary_key=True),
    Column("reason", Name, primary_key=True),
    Column("number", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
