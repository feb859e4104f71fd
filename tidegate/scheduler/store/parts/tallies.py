"""The protocols of the kept counts of waiting jobs; see `scheduler.store.protocol`.

They belong to jobs that wait: a store removes those of a job with `put_jobs` once it waits no longer, and
with `remove_deliveries`, since counts never go down. Code that adds deliveries advances the counts of
their jobs, or removes them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys


class TallyRows(Protocol):
    """Reads kept counts."""

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        """The kept counts of those of these jobs (ids) that have some."""
        ...

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        """What these partition keys have added to the counts of a job, by leaf and key."""
        ...


class TallyChanges(Protocol):
    """Changes kept counts."""

    def put_tallies(self, tallies: Sequence[KeptTally]) -> None:
        """Create or replace the counts of jobs; what their keys have added stays."""
        ...

    def put_tallied_keys(self, keys: Mapping[str, TalliedKeys]) -> None:
        """Record what keys have added to the kept counts of jobs (ids); other keys stay."""
        ...

    def delete_tallies(self, jobs: Collection[str]) -> None:
        """Remove the counts of jobs, and all their keys."""
        ...
