"""A reader of one snapshot, which looks nothing up twice.

An explanation asks for the same job, schedule and app at several places, each a round trip to the server of
the database. Nothing can have changed in between: the transaction sees the store at one instant.
"""

from collections.abc import Callable, Collection
from typing import Any, TypeVar, Unpack

from sqlalchemy import Connection

from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.answers import AppHeader
from tidegate.scheduler.store.sql.reader import SqlReader
from tidegate.scheduler.store.wanted import JobsWanted

NAMES_MAX = 10
"""Look-ups of more names at once are not kept: they are those of lists, which are read once."""

T = TypeVar("T")


class SnapshotReader(SqlReader):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._known: dict[tuple[str, frozenset[str]], Any] = {}

    def apps(self, *, names: Collection[str] | None = None) -> tuple[DeployedApp, ...]:
        if names is None:
            # An explanation of a table looks through all of them for names, coverage and datasets.
            return self._once("all apps", (), lambda: SqlReader.apps(self))
        return self._once("apps", names, lambda: SqlReader.apps(self, names=names))

    def app_headers(self) -> tuple[AppHeader, ...]:
        return self._once("app headers", (), lambda: SqlReader.app_headers(self))

    def schedules(
        self, *, app: str | None = None, refs: Collection[str] | None = None, kind: str | None = None
    ) -> tuple[ScheduleState, ...]:
        only = refs if app is None and kind is None else None
        return self._once("schedules", only, lambda: SqlReader.schedules(self, app=app, refs=refs, kind=kind))

    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        only = wanted.get("ids") if wanted.keys() == {"ids"} else None
        return self._once("jobs", only, lambda: SqlReader.jobs(self, **wanted))

    def _once(self, what: str, names: Collection[str] | None, read: Callable[[], T]) -> T:
        """Return what is read for some names; None is not kept."""
        if names is None or len(names) > NAMES_MAX:
            return read()
        key = what, frozenset(names)
        if key not in self._known:
            self._known[key] = read()
        return self._known[key]
