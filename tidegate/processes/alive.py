"""Whether Dagster works on a project: its daemon, its code servers, and their dispatchers.

The daemon writes a heartbeat and the result of each evaluation into Dagster's instance; a code server is
asked for its definitions. Nothing is changed.

To import Dagster takes longer than all else that `tidegate status` does. So the SQLite files of our own
storage are read directly. Dagster is asked where a home has another storage or other files, for a thorough
look, and for the answer of a code server.
"""

import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tidegate.dagster_defs.internals.sqlite_files import Notes, read_notes
from tidegate.processes.code_servers import code_state
from tidegate.processes.home import (
    DEVELOPMENT,
    HOME_VARIABLE,
    SETTINGS_NAME,
    home_in_use,
    workspace_files,
)
from tidegate.processes.living import Living, beside, living_at
from tidegate.project.environment import STARTER
from tidegate.scheduler.launch.versions import DAEMON_KEY, AtWork

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from tidegate.project.settings.settings import Settings

SENSOR_DAEMON = "SENSOR"
CONNECT_SECONDS = 2.0

OUR_INSTANCE = {"module": "tidegate.dagster_defs.sqlite", "class": "SqliteInstance"}
OUR_COORDINATOR = {"module": "tidegate.dagster_defs.coordinator", "class": "LaunchingCoordinator"}
STORAGES = {"storage", "run_storage", "event_log_storage", "schedule_storage"}
"""Keys of `dagster.yaml` that name another storage than that of the instance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeServer:
    """A code server of the workspace.

    Attributes:
        problem: why it does not serve its definitions; "" if it does.
    """

    address: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatcher:
    """The dispatcher of a code location, as Dagster's daemon has it.

    Attributes:
        name: of the sensor and of its code location.
        on: whether it is switched on.
        at: its last evaluation; None before the first one.
        problem: the first line of the error of that evaluation; "" without one.
    """

    name: str
    on: bool
    at: datetime | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DagsterState:
    """What Dagster's instance says.

    Attributes:
        home: the folder of the instance.
        heartbeat: the last one of the daemon that evaluates sensors; None if it never ran.
        daemon: the daemon that has loaded code of Tidegate; None where the instance names none for it.
        servers: the code servers of the workspace; none where Dagster's processes load the code themselves.
        dispatchers: the dispatcher of each code location of the workspace that the daemon has seen.
        outdated: Dagster's databases whose schema is not that of the installed version.
        sharded: the event log has a SQLite file for each run.
        beside: processes of this machine that are to end, since more than one daemon works on the home.
    """

    home: Path
    heartbeat: datetime | None
    daemon: AtWork | None = None
    servers: tuple[CodeServer, ...] = ()
    dispatchers: tuple[Dispatcher, ...] = ()
    outdated: tuple[str, ...] = ()
    sharded: bool = False
    beside: tuple[Living, ...] = ()


def dagster_state(settings: "Settings", *, thorough: bool = False) -> DagsterState | str:
    """Return what Dagster says about the processes of its workspace, or why it cannot be read.

    Args:
        thorough: ask Dagster itself, which also checks all its settings.
    """
    home = home_in_use(settings)
    if not (home / SETTINGS_NAME).is_file():
        return (
            f"there is no {SETTINGS_NAME} in {home}: set {HOME_VARIABLE} to the folder of the daemon, or make"
            f" the file: `tidegate docs dagster`, Production, has one, and {STARTER / SETTINGS_NAME} is one"
            " for a single machine"
        )
    entries = _entries(*workspace_files(settings, home))
    names = [str(entry["location_name"]) for entry in entries if "location_name" in entry]
    locations = names if len(names) == len(entries) else None
    try:
        state = None if thorough else _read(home, locations)
        state = state or _asked(home, locations)
    except Exception as error:  # noqa: BLE001 -- must not hide what the caller explains
        return f"Dagster's instance in {home} cannot be read: {_first_line(str(error))}"
    servers = tuple(
        _server(str(each.get("host", "127.0.0.1")), int(each["port"])) for each in entries if "port" in each
    )
    return replace(state, servers=servers, beside=beside(living_at(home)))


def _read(home: Path, locations: Collection[str] | None) -> DagsterState | None:
    """Return what the files of a home say; None where only Dagster itself can say it."""
    has_note = _has_note((home / SETTINGS_NAME).read_text())
    notes = None if has_note is None else read_notes(home)
    return None if notes is None else _as_noted(home, notes, locations, has_note=bool(has_note))


def _has_note(text: str) -> bool | None:
    """Return whether a daemon with these settings notes its version; None where its files are not ours."""
    if text == DEVELOPMENT:
        # What a new project has: to import and run PyYAML takes longer than all else here.
        return True
    import yaml

    try:
        content: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(content, dict) or content.keys() & STORAGES:
        return None
    coordinator = content.get("run_coordinator")
    has_note = coordinator is not None and _is(coordinator, OUR_COORDINATOR)
    if not _is(content.get("instance_class"), OUR_INSTANCE) or not (coordinator is None or has_note):
        return None
    return has_note


def _is(section: Any, ours: dict[str, str]) -> bool:
    return isinstance(section, dict) and all(section.get(key) == value for key, value in ours.items())


def _as_noted(home: Path, notes: Notes, locations: Collection[str] | None, *, has_note: bool) -> DagsterState:
    """Return what the files say.

    Args:
        has_note: the daemon notes its version.
    """
    seconds = notes.heartbeats.get(SENSOR_DAEMON)
    at = None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    daemon = None
    if at is not None and has_note:
        text = notes.values.get(DAEMON_KEY)
        noted = None if text is None else msgspec.json.decode(text, type=AtWork)
        daemon = noted or AtWork(version="", process="", since=at)
    return DagsterState(
        home=home,
        heartbeat=at,
        daemon=daemon,
        dispatchers=tuple(
            Dispatcher(
                name=f"{each.name} of {each.location}",
                on=each.on,
                at=None if each.at is None else datetime.fromtimestamp(each.at, UTC),
                problem=_first_line(each.error),
            )
            for each in notes.sensors
            if _is_ours(each.name, each.location, locations)
        ),
        outdated=tuple(name for name, revision in notes.revisions.items() if revision != notes.head),
        sharded=notes.sharded,
    )


def _asked(home: Path, locations: Collection[str] | None) -> DagsterState:
    """Return what Dagster's instance says."""
    from dagster import DagsterInstance

    with DagsterInstance.from_config(str(home)) as instance:
        heartbeat = instance.get_daemon_heartbeats().get(SENSOR_DAEMON)
        at = None if heartbeat is None else datetime.fromtimestamp(heartbeat.timestamp, UTC)
        return DagsterState(
            home=home,
            heartbeat=at,
            daemon=None if at is None else _daemon(instance, at),
            dispatchers=tuple(_dispatchers(instance, locations)),
            outdated=tuple(_outdated(instance)),
            sharded=instance.event_log_storage.is_run_sharded,
        )


def _daemon(instance: "DagsterInstance", at: datetime) -> AtWork | None:
    """Return the daemon that began last, with a heartbeat; one that has not noted its version has none."""
    from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator
    from tidegate.dagster_defs.coordinator.daemon import noted_daemon

    if not isinstance(instance.run_coordinator, LaunchingCoordinator):
        return None
    return noted_daemon(instance) or AtWork(version="", process="", since=at)


def _outdated(instance: "DagsterInstance") -> Iterator[str]:
    """Yield the databases whose schema is older or newer than the installed version of Dagster."""
    storages = {
        "runs": instance.run_storage,
        "event log": instance.event_log_storage,
        "schedules": instance.schedule_storage,
    }
    for name, storage in storages.items():
        revisions = None if storage is None else storage.alembic_version()
        if revisions is not None and revisions[0] != revisions[1]:
            yield name


def _is_ours(sensor: str, location: str, locations: Collection[str] | None) -> bool:
    from tidegate.dagster_defs.deployed.names import DISPATCHER

    return sensor == DISPATCHER and (not locations or location in locations)


def _dispatchers(instance: "DagsterInstance", locations: Collection[str] | None) -> Iterator[Dispatcher]:
    """Yield the dispatcher of each code location as it was evaluated last.

    Args:
        locations: the names of the code locations; None if they are not known.
    """
    from tidegate.dagster_defs.internals.instigators import InstigatorType

    for state in instance.all_instigator_state(instigator_type=InstigatorType.SENSOR):
        location = state.origin.repository_origin.code_location_origin.location_name
        if not _is_ours(state.name, location, locations):
            continue
        name = f"{state.name} of {location}"
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1)
        if not ticks:
            yield Dispatcher(name=name, on=state.is_running)
            continue
        error = ticks[0].error
        yield Dispatcher(
            name=name,
            on=state.is_running,
            at=datetime.fromtimestamp(ticks[0].timestamp, UTC),
            problem="" if error is None else _first_line(error.message),
        )


def _entries(*workspaces: Path) -> list[dict[str, Any]]:
    """Return the code locations that the first of these files names, if it exists, as settings by key."""
    file = next((each for each in workspaces if each.is_file()), None)
    if file is None:
        return []
    import yaml

    content: Any = yaml.safe_load(file.read_text()) or {}
    entries = content.get("load_from", [])
    return [next(iter(each.values())) for each in entries if _has_settings(each)]


def _has_settings(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(next(iter(entry.values()), None), dict)


def _server(host: str, port: int) -> CodeServer:
    address = f"{host}:{port}"
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError:
        return CodeServer(address=address, problem="does not answer")
    loaded, problem = code_state(port, host)
    if problem is not None:
        return CodeServer(address=address, problem=f"cannot load the definitions: {_first_line(problem)}")
    return CodeServer(address=address, problem="" if loaded else "does not answer")


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")
