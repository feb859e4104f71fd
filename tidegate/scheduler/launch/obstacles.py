"""Obstacles in the store: noted by who drives the engine, read by decisions and by `why`.

workspace of the host, or what the dispatcher can do ─► noted when it changes ─► jobs that wait are decided
locations of that workspace                          ─► noted when they change ─► doctor, board, REST
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from tidegate.domain.model import App
from tidegate.scheduler.launch.active_host import active_host
from tidegate.scheduler.model.obstacle import (
    LocationState,
    Obstacle,
    locations_cursor,
    locations_of,
    obstacle_resource,
    obstacles_cursor,
    obstacles_of,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store


def obstacles(reader: EngineReader, app: str) -> Mapping[str, Obstacle]:
    """Return what is noted of the programs of an app, by their names."""
    return obstacles_of(reader.cursor(obstacles_cursor(app)))


def without_host(
    reader: EngineReader, apps: Mapping[str, App], project: str, now: datetime, *, merged: bool
) -> tuple[str, ...]:
    """Return the programs ("app/program") whose jobs would wait for a host; none while one is active.

    Args:
        merged: the project is part of a code location of others, whose jobs the dispatcher may launch; what
            it cannot launch, it has noted.
    """
    if active_host(reader, project, now) is not None:
        return ()
    existing = (
        f"{app.name}/{name}"
        for app in apps.values()
        for name, program in app.programs.items()
        if program.existing is not None
    )
    if not merged:
        return tuple(existing)
    noted = set(hostless(reader, apps))
    return tuple(each for each in existing if each in noted)


def hostless(reader: EngineReader, apps: Iterable[str]) -> tuple[str, ...]:
    """Return the programs ("app/program") of some apps of which it is noted that they wait for a host."""
    return tuple(
        f"{app}/{name}"
        for app, noted in _obstacles_by_app(reader, apps).items()
        for name, each in noted.items()
        if each.reason is Reason.W_HOST
    )


def _obstacles_by_app(reader: EngineReader, apps: Iterable[str]) -> dict[str, Mapping[str, Obstacle]]:
    """Return what `obstacles` returns of each app, read at once."""
    noted = reader.cursors(obstacles_cursor(""))
    return {app: obstacles_of(noted.get(obstacles_cursor(app))) for app in apps}


def note_obstacles(store: Store, found: Mapping[str, Mapping[str, Obstacle]], now: datetime) -> None:
    """Note the obstacles of some apps, and let the jobs of programs whose obstacle is another be decided.

    Args:
        found: by app, and by the name of the program; those of an app replace what was noted.
    """
    with store.reading() as reader:
        noted = _obstacles_by_app(reader, found)
    changed = {app: each for app, each in found.items() if each != noted[app]}
    if not changed:
        return
    with store.transaction() as transaction:
        for app, each in changed.items():
            before = _put(transaction, app, each)
            others = {name for name in before.keys() | each.keys() if before.get(name) != each.get(name)}
            transaction.wake({obstacle_resource(f"{app}/{name}") for name in others}, now)


def _put(transaction: EngineTransaction, app: str, found: Mapping[str, Obstacle]) -> Mapping[str, Obstacle]:
    """Replace what is noted of an app, and return what was."""
    before = obstacles(transaction, app)
    stored = {name: msgspec.to_builtins(each) for name, each in found.items()}
    transaction.set_cursor(obstacles_cursor(app), stored or None)
    return before


def location_states(reader: EngineReader, project: str) -> Mapping[str, LocationState]:
    """Return the code locations that the host of a project has seen last, by name."""
    return locations_of(reader.cursor(locations_cursor(project)))


def note_locations(store: Store, project: str, problems: Mapping[str, str], now: datetime) -> None:
    """Note the code locations of a workspace, if one is another than before.

    Args:
        problems: why each is not loaded, by name; "" for one that is.
    """
    with store.reading() as reader:
        before = location_states(reader, project)
    if {name: state.problem for name, state in before.items()} == problems:
        return
    found = {
        name: before[name]
        if name in before and before[name].problem == problem
        else LocationState(problem=problem, since=now)
        for name, problem in sorted(problems.items())
    }
    with store.transaction() as transaction:
        transaction.set_cursor(locations_cursor(project), msgspec.to_builtins(found))
