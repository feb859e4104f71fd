"""A reader of one snapshot, which looks nothing up twice.

An explanation asks for the same job, schedule and app at several places, each a round trip to the server of
the database. Nothing can have changed in between: the transaction sees the store at one instant.
"""

from collections.abc import Callable, Collection
from typing import Any, TypeVar, Unpack

from sqlalchemy import Connection

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.store.answers import AppHeader
from tidegate.scheduler.store.sql.reader import SqlReader
from tidegate.scheduler.store.wanted import JobsWanted, SchedulesWanted

NAMES_MAX = 10
"""Look-ups of more names at once are not kept: they are those of lists, which are read once."""

T = TypeVar("T")
V = TypeVar("V", bound=Value)


class SnapshotReader(SqlReader):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._known: dict[tuple[str, frozenset[str]], Any] = {}

    def records(self, kind: Kind[V], /, **among: Collection[str] | None) -> tuple[V, ...]:
        narrowed = kind.narrowed_by(among)
        what = " ".join((kind.name, *narrowed))
        names = [f"{name} {value}" for name, values in narrowed.items() for value in values]
        return self._once(what, names, lambda: SqlReader.records(self, kind, **among))

    def app_headers(self) -> tuple[AppHeader, ...]:
        return self._once("app headers", (), lambda: SqlReader.app_headers(self))

    def schedules(self, **wanted: Unpack[SchedulesWanted]) -> tuple[ScheduleState, ...]:
        only = wanted.get("refs") if wanted.keys() == {"refs"} else None
        return self._once("schedules", only, lambda: SqlReader.schedules(self, **wanted))

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
