"""The protocols of alerts; see `scheduler.store.protocol`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.alert import Alert, AlertKind, AlertState, Incident
from tidegate.scheduler.store.parts.retention import Numbered


class AlertCount(Value, kw_only=True):
    """How many alerts of a channel are in a state."""

    channel: str
    kind: AlertKind
    state: AlertState
    alerts: int


class AlertRows(Protocol):
    """Reads alerts, and what they are made from."""

    def deadline_schedules(self) -> tuple[ScheduleState, ...]:
        """The schedules and tasks with a deadline, by ref."""
        ...

    def entries_of(
        self, kinds: Collection[EntryKind], after: int, until: int, limit: int
    ) -> tuple[Numbered, ...]:
        """Entries of these kinds with a number after one and up to another, in order."""
        ...

    def incidents(self, project: str) -> tuple[Incident, ...]:
        """The incidents of a project, by id."""
        ...

    def alerts(
        self,
        project: str,
        *,
        ids: Collection[str] | None = None,
        states: Collection[AlertState] | None = None,
        channel: str | None = None,
        app: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int | None = None,
    ) -> tuple[Alert, ...]:
        """The alerts of a project that match all given filters, the newest `made_at` first, then by id.

        Args:
            app: of the subject.
            before: `made_at` and id of the alert behind which the list begins.
        """
        ...

    def due_alerts(self, project: str, now: datetime, limit: int) -> tuple[Alert, ...]:
        """The pending alerts of a project whose `next_at` is due, by `next_at`, then id."""
        ...

    def alert_counts(self, project: str, app: str | None = None) -> tuple[AlertCount, ...]:
        """How many alerts there are, of one app or of all, by channel, kind and state."""
        ...


class AlertChanges(Protocol):
    """Changes alerts."""

    def put_incidents(self, incidents: Sequence[Incident]) -> None:
        """Create or replace incidents, by id."""
        ...

    def drop_incidents(self, ids: Collection[str]) -> None:
        """Remove incidents."""
        ...

    def put_alerts(self, alerts: Sequence[Alert]) -> None:
        """Create or replace alerts, by id."""
        ...

    def drop_alerts(self, before: datetime, limit: int) -> int:
        """Remove alerts that have ended before an instant, the oldest first; return how many."""
        ...
