"""Kept: what the store keeps of the counted events of one job besides the tally, read in small parts."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.records.tally import TalliedKeys


class Kept(Protocol):
    """What the tally of one job counts. Events are kept only for a trigger whose events may stop counting."""

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        """Return what these keys have added, or at least that."""
        ...

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        """Return the first counted events at a leaf that arrived after an instant, in order of arrival."""
        ...

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        """Return the last arrival at a leaf up to an instant, of the counted events."""
        ...


class Nothing:
    """Of a job of which nothing is counted yet."""

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        return {}

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        return ()

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        return None
