"""The protocol of what a store says about apps and schedules; see `scheduler.store.protocol`."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Protocol

from tidegate.domain.model import Constraint, Schedule
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState


class AppHeader(Value, kw_only=True):
    """A deployed app without its specification, which is large; see `DeployedApp`."""

    name: str
    revision: int
    deployed_at: datetime
    project: str
    namespace: str


def namespaces_of_apps(reader: "DeployedRows") -> dict[str, str]:
    """Return the namespace of each deployed app, by name."""
    return {each.name: each.namespace for each in reader.app_headers()}


def constraints_of(
    kinds: Collection[type[Constraint]], specs: Iterable[tuple[str, Schedule]]
) -> tuple[tuple[str, Constraint], ...]:
    """Return the constraints of some kinds in the specifications of schedules, each with its ref."""
    wanted = tuple(kinds)
    return tuple((ref, each) for ref, spec in specs for each in spec.constraints if isinstance(each, wanted))


class DeployedRows(Protocol):
    """Reads what is deployed."""

    def apps(self, *, names: Collection[str] | None = None) -> tuple[DeployedApp, ...]:
        """Deployed apps, by name; all, or those of `names` that exist."""
        ...

    def revisions(self) -> dict[str, int]:
        """The deployed revision of each app, by name: what changes when an app is deployed."""
        ...

    def app_headers(self) -> tuple[AppHeader, ...]:
        """All deployed apps without their specifications, by name."""
        ...

    def schedule_refs(self) -> tuple[str, ...]:
        """The refs of all deployed schedules and tasks, sorted."""
        ...

    def schedules(
        self, *, app: str | None = None, refs: Collection[str] | None = None, kind: str | None = None
    ) -> tuple[ScheduleState, ...]:
        """Deployed schedules, by ref; of one app, those of `refs` that exist, or of a kind of trigger.

        Args:
            kind: of the root of the trigger, `task` for tasks.
        """
        ...

    def constraints(
        self, kinds: Collection[type[Constraint]], *, app: str | None = None
    ) -> tuple[tuple[str, Constraint], ...]:
        """The constraints of some kinds, each with the ref of its schedule, by that.

        Specifications without any are not decoded: they are nearly all.
        """
        ...

    def due_schedules(self, now: datetime, limit: int) -> tuple[ScheduleState, ...]:
        """Active or holding schedules, not tasks, whose `next_fire_at` is due, earliest first, then ref."""
        ...

    def due_tasks(self, now: datetime, limit: int) -> tuple[ScheduleState, ...]:
        """Tasks whose `next_fire_at` is due: a day is to be generated. Earliest first, then ref."""
        ...
