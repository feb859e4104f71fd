"""The protocols of data that is expected, and of what was late; see `scheduler.store.protocol`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.domain.value import Value
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod, LateTotal


class LateWanted(Value, kw_only=True):
    """Which late periods are listed.

    Attributes:
        apps: only those of these apps; None: all.
        dataset: only those of this one, "app/name".
        now: only those that have not landed yet.
    """

    apps: tuple[str, ...] | None = None
    dataset: str | None = None
    now: bool = False


class ExpectedRows(Protocol):
    """Reads what is expected, and what was late."""

    def expected_data(self, datasets: Collection[str] | None = None) -> tuple[ExpectedData, ...]:
        """The datasets with a deadline, all or those of these names, by name."""
        ...

    def due_data(self, now: datetime, limit: int) -> tuple[ExpectedData, ...]:
        """The datasets whose `due_at` is due, by `due_at`, then name."""
        ...

    def next_due_data(self) -> datetime | None:
        """The earliest `due_at` of all datasets."""
        ...

    def expected_periods(self, dataset: str, periods: Collection[str]) -> tuple[ExpectedPeriod, ...]:
        """The kept ones of these periods (keys) of a dataset, by key."""
        ...

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        """Periods that were late, the newest `due_at` first, then by dataset and key."""
        ...

    def late_totals(self, names: Collection[str] | None = None) -> tuple[LateTotal, ...]:
        """How often each schedule, task and dataset was late, all or some (names), by kind and name."""
        ...

    def late_jobs(self) -> dict[str, int]:
        """How many unfinished jobs are late, by schedule ("app/name"), of those that have any, sorted."""
        ...


class ExpectedChanges(Protocol):
    """Changes what is expected, and what was late."""

    def put_expected_data(self, data: Sequence[ExpectedData]) -> None:
        """Create or replace datasets with a deadline, by name."""
        ...

    def drop_expected_data(self, datasets: Collection[str]) -> None:
        """Remove datasets with their periods."""
        ...

    def put_expected_periods(self, periods: Sequence[ExpectedPeriod]) -> None:
        """Create or replace periods, by dataset and key."""
        ...

    def drop_expected_periods(self, dataset: str, periods: Collection[str]) -> None:
        """Remove periods (keys) of a dataset."""
        ...

    def drop_late_periods(self, before: datetime, limit: int) -> int:
        """Remove periods that were due before an instant and late, the oldest first; return how many."""
        ...

    def put_late_totals(self, totals: Sequence[LateTotal]) -> None:
        """Create or replace totals, by kind and name."""
        ...
