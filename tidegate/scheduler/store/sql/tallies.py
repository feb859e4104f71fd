"""The kept counts of waiting jobs in SQL; see `scheduler.store.tallies`."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from sqlalchemy import delete, select
from sqlalchemy.sql.dml import ReturningDelete

from tidegate.scheduler.model.tally import KeptTally, TalliedKeys
from tidegate.scheduler.store.sql import bulk, tables
from tidegate.scheduler.store.sql.bulk import among, listed
from tidegate.scheduler.store.sql.changes import Changes
from tidegate.scheduler.store.sql.queries import Queries, every
from tidegate.scheduler.store.sql.rows import TALLIES

ALL_TALLIES = every(TALLIES)
KEYS = select(tables.tallied_keys.c.leaf, tables.tallied_keys.c.key, tables.tallied_keys.c.amount)


@cache
def _deleted(dialect: str) -> ReturningDelete[tuple[str]]:
    """Return the statement that removes counts and says whose; most jobs have none."""
    column = tables.tallies.c.job
    return delete(tables.tallies).where(among(dialect, column, "jobs")).returning(column)


class TallyReader(Queries):
    """See `TallyRows`."""

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        """See `TallyRows.tallies`."""
        found = self._all(ALL_TALLIES, TALLIES.value, {tables.tallies.c.job: jobs})
        return {kept.job: kept for kept in found}

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        """See `TallyRows.tallied_keys`."""
        table = tables.tallied_keys
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
        bulk.insert(self._connection, tables.tallied_keys, names, rows, on_conflict="replace")

    def delete_tallies(self, jobs: Collection[str]) -> None:
        """See `TallyChanges.delete_tallies`."""
        if not jobs:
            return
        gone = self._connection.execute(_deleted(self._dialect), {"jobs": listed(self._dialect, jobs)})
        self._delete(tables.tallied_keys.c.job, [row.job for row in gone.all()])
