"""The protocols of overrides; see `scheduler.store.protocol`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.records.override import Override


class OverrideRows(Protocol):
    """Reads overrides."""

    def overrides(
        self, *, app: str | None = None, refs: Collection[str] | None = None
    ) -> tuple[Override, ...]:
        """Overrides of an app and of these refs, or all, by ref and kind."""
        ...

    def expiring(self, until: datetime, limit: int) -> tuple[Override, ...]:
        """Overrides that expire by an instant, the earliest first, then by ref and kind."""
        ...


class OverrideChanges(Protocol):
    """Changes overrides."""

    def put_overrides(self, overrides: Sequence[Override]) -> None:
        """Create or replace overrides, by ref and kind."""
        ...

    def delete_overrides(self, overrides: Sequence[Override]) -> None:
        """Remove overrides, by ref and kind."""
        ...
