"""The kept counts of waiting jobs in memory; see `scheduler.store.parts.tallies`."""

from collections.abc import Collection, Mapping, Sequence

from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys
from tidegate.scheduler.store.memory.tables import Tables


class TallyReader:
    """See `TallyRows`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        """See `TallyRows.tallies`."""
        return {job: self._tables.tallies[job] for job in sorted(jobs) if job in self._tables.tallies}

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        """See `TallyRows.tallied_keys`."""
        known = self._tables.tallied_keys.get(job, {})
        return {place: amount for place, amount in known.items() if place[1] in keys}


class TallyWriter(TallyReader):
    """See `TallyChanges`."""

    def put_tallies(self, tallies: Sequence[KeptTally]) -> None:
        """See `TallyChanges.put_tallies`."""
        self._tables.own("tallies")
        self._tables.tallies.update({kept.job: kept for kept in tallies})

    def put_tallied_keys(self, keys: Mapping[str, TalliedKeys]) -> None:
        """See `TallyChanges.put_tallied_keys`."""
        self._tables.own("tallied_keys")
        for job, added in keys.items():
            self._tables.tallied_keys[job] = {**self._tables.tallied_keys.get(job, {}), **added}

    def delete_tallies(self, jobs: Collection[str]) -> None:
        """See `TallyChanges.delete_tallies`."""
        self._tables.own("tallies", "tallied_keys")
        for job in jobs:
            if self._tables.tallies.pop(job, None) is not None:
                self._tables.tallied_keys.pop(job, None)
