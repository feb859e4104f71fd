"""The deployed apps and schedules that a comparison looks at: those that may differ are read, and once.

    digest in the header of the app = digest of the wanted app ──► they are equal: the wanted one is taken
    another digest, none, or an app that is not wanted         ──► it is read

A deployment writes the digest beside the app (`stored_digest`), and whatever else writes specifications takes
it away. An app with overrides is read: what a deployment does to them depends on its rows. A deployment
without a change reads everything, for it repairs rows that cannot be read, which a digest does not show.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from tidegate.compiler.fingerprint import content_digest
from tidegate.compiler.plan.renames import Renames, moved_places, with_places
from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.rename import record_of
from tidegate.scheduler.model.deployed import APPS, ScheduleState, whole_app
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.engine_reader import EngineReader

V = TypeVar("V", bound=Value)

APPS_READ = 20
"""Of more apps that differ, all schedules are read: that is one query, and not one for each app."""

Digests = Mapping[str, str]
"""Digests of wanted apps that are known already, by name; see `content_digest`."""
NO_DIGESTS: Digests = {}


class Rows(Protocol):
    """The rows that a comparison reads; see `scheduler.store.protocol.Reader` for each method."""

    def records(self, kind: Kind[V], /, *, name: Collection[str] | None = None) -> Sequence[V]: ...

    def schedules(
        self, *, refs: Collection[str] | None = None, app: str | None = None
    ) -> Sequence[ScheduleState]: ...

    def jobs(self, *, states: frozenset[JobState], schedules: Collection[str]) -> Sequence[Job]: ...

    def deliveries(self, jobs: list[str]) -> Mapping[str, Sequence[Delivery]]: ...


class DeployedRows:
    """The rows of a comparison.

    Args:
        rows: the store, or what it has under new names.
        same: the deployed apps that are equal to a wanted one, by name: these, which are not read.
        names: the names of all deployed apps, sorted; None for those that are read.

    Attributes:
        apps: the deployed apps with their schedules, by name.
    """

    def __init__(self, rows: Rows, same: Mapping[str, App], names: Sequence[str] | None = None) -> None:
        self.rows = rows
        self.same = same
        others = None if names is None or not same else [name for name in names if name not in same]
        if others is None or len(others) > APPS_READ:
            found = rows.schedules()
        else:
            found = [state for name in others for state in rows.schedules(app=name)]
        read = _whole(rows, others, found)
        self._states = {state.ref: state for state in found}
        # An app whose row cannot be read has a header and no text: it is deployed like a new one.
        self.apps: Mapping[str, App] = {
            name: app for name in names or read if (app := same.get(name) or read.get(name)) is not None
        }

    def states(self, refs: Iterable[str]) -> dict[str, ScheduleState]:
        """Return the deployed ones of some schedules, by ref."""
        known = self._states
        unread = [ref for ref in refs if ref not in known and app_of(ref) in self.same]
        read = {state.ref: state for state in self.rows.schedules(refs=unread)} if unread else {}
        return {ref: known[ref] for ref in refs if ref in known} | read


def deployed_apps(rows: Rows) -> dict[str, App]:
    """Return every deployed app with its schedules, by name."""
    return _whole(rows, None, rows.schedules())


def _whole(rows: Rows, names: Collection[str] | None, states: Iterable[ScheduleState]) -> dict[str, App]:
    schedules: dict[str, list[ScheduleState]] = {}
    for state in states:
        schedules.setdefault(state.app, []).append(state)
    return {
        deployed.name: whole_app(deployed, tuple(schedules.get(deployed.name, ())))
        for deployed in rows.records(APPS, name=names)
    }


def deployed_rows(
    reader: EngineReader, wanted: Mapping[str, App], digests: Digests | None = NO_DIGESTS
) -> DeployedRows:
    """Return the rows of a comparison with wanted apps.

    Args:
        digests: of wanted apps, by name, as far as they are known; None: read every app.
    """
    headers = reader.app_headers()
    overridden = {each.app for each in reader.records(OVERRIDES)}
    placed = with_places(wanted, moved_places(record_of(reader).places, Renames()))
    same: dict[str, App] = {}
    for header in headers:
        app = placed.get(header.name)
        if app is None or digests is None or not header.digest or header.name in overridden:
            continue
        known = digests.get(header.name) if app is wanted[header.name] else None
        if header.digest == (known or content_digest(app)):
            same[header.name] = _in_order(app)
    return DeployedRows(reader, same, [header.name for header in headers])


def _in_order(app: App) -> App:
    """Return an app with its schedules by name, as they are read."""
    names = [*app.schedules]
    if names == sorted(names):
        return app
    return msgspec.structs.replace(app, schedules=dict(sorted(app.schedules.items())))


def stored_digest(app: App) -> str:
    """Return the digest of an app as it is read from the store; "" if the store changes it."""
    try:
        read = msgspec.json.decode(msgspec.json.encode(app), type=App)
    except (OverflowError, TypeError, ValueError):
        return ""
    return content_digest(app) if read == app else ""
