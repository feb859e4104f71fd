"""The kept counts of waiting jobs in SQL; see `scheduler.store.parts.tallies`."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from sqlalchemy import BigInteger, Column, Table, Text, delete, select
from sqlalchemy.sql.dml import ReturningDelete

from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys, Tally
from tidegate.scheduler.store.sql.columns import Json, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.changes import Changes
from tidegate.scheduler.store.sql.statements.codec import Codec
from tidegate.scheduler.store.sql.statements.queries import Queries, every

# One row for each job, and one for each key that a leaf counts once.
kept_tallies = Table(
    "tallies",
    metadata,
    Column("job", Name, primary_key=True),
    Column("basis", Text, nullable=False),
    Column("tally", Json(Tally), nullable=False),
)
keys_counted = Table(
    "tallied_keys",
    metadata,
    Column("job", Name, primary_key=True),
    Column("key", Name, primary_key=True),
    Column("leaf", Name, primary_key=True),
    Column("amount", BigInteger, nullable=False),
)

TALLIES = Codec(kept_tallies, KeptTally)

ALL_TALLIES = every(TALLIES)
KEYS = select(keys_counted.c.leaf, keys_counted.c.key, keys_counted.c.amount)


@cache
def _deleted(dialect: str) -> ReturningDelete[tuple[str]]:
    """Return the statement that removes counts and says whose; most jobs have none."""
    column = kept_tallies.c.job
    return delete(kept_tallies).where(among(dialect, column, "jobs")).returning(column)


class TallyReader(Queries):
    """See `TallyRows`."""

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        """See `TallyRows.tallies`."""
        found = self._all(ALL_TALLIES, TALLIES.value, {kept_tallies.c.job: jobs})
        return {kept.job: kept for kept in found}

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        """See `TallyRows.tallied_keys`."""
        table = keys_counted
        rows = self._all(KEYS, tuple[str, str, int], {table.c.key: keys}, {table.c.job: job})
        return {(leaf, key): amount for leaf, key, amount in rows}


class TallyWriter(Changes):
    """See `TallyChanges`."""

    def put_tallies(self, tallies: Sequence[KeptTally]) -> None:
        """See `TallyChanges.put_tallies`."""
        self._put(TALLIES, tallies)

    def put_tallied_keys(self, keys: Mapping[str, TalliedKeys]) -> None:
        """See `TallyChanges.put_tallied_keys`."""
        rows = [
            (job, key, leaf, amount) for job, each in keys.items() for (leaf, key), amount in each.items()
        ]
        names = ("job", "key", "leaf", "amount")
        bulk.insert(self._connection, keys_counted, names, rows, on_conflict="replace")

    def delete_tallies(self, jobs: Collection[str]) -> None:
        """See `TallyChanges.delete_tallies`."""
        if not jobs:
            return
        gone = self._connection.execute(_deleted(self._dialect), {"jobs": listed(self._dialect, jobs)})
        self._delete(keys_counted.c.job, [row.job for row in gone.all()])
