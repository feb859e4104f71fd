"""Whether Dagster works on a project: its daemon, its code servers, and their dispatchers.

The daemon writes a heartbeat and the result of each evaluation into Dagster's instance; a code server is
asked for its definitions. Nothing is changed. Dagster is imported only when the function is called, since
that takes seconds.
"""

import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tidegate.processes.code_servers import code_state
from tidegate.processes.home import HOME_VARIABLE, SETTINGS_NAME, home_in_use, workspace_files
from tidegate.processes.living import Living, beside, living_at
from tidegate.project.create import STARTER

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.launch.versions import AtWork

SENSOR_DAEMON = "SENSOR"
CONNECT_SECONDS = 2.0


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
    daemon: "AtWork | None" = None
    servers: tuple[CodeServer, ...] = ()
    dispatchers: tuple[Dispatcher, ...] = ()
    outdated: tuple[str, ...] = ()
    sharded: bool = False
    beside: tuple[Living, ...] = ()


def dagster_state(settings: "Settings") -> DagsterState | str:
    """Return what Dagster says about the processes of its workspace, or why it cannot be read."""
    home = home_in_use(settings)
    if not (home / SETTINGS_NAME).is_file():
        return (
            f"there is no {SETTINGS_NAME} in {home}: set {HOME_VARIABLE} to the folder of the daemon, or make"
            f" the file: `tidegate docs dagster`, Production, has one, and {STARTER / SETTINGS_NAME} is one"
            " for a single machine"
        )
    from dagster import DagsterInstance

    entries = _entries(*workspace_files(settings, home))
    locations = [str(entry["location_name"]) for entry in entries if "location_name" in entry]
    try:
        with DagsterInstance.from_config(str(home)) as instance:
            heartbeat = instance.get_daemon_heartbeats().get(SENSOR_DAEMON)
            at = None if heartbeat is None else datetime.fromtimestamp(heartbeat.timestamp, UTC)
            daemon = None if at is None else _daemon(instance, at)
            found = tuple(_dispatchers(instance, locations if len(locations) == len(entries) else None))
            outdated = tuple(_outdated(instance))
            sharded = instance.event_log_storage.is_run_sharded
    except Exception as error:  # noqa: BLE001 -- must not hide what the caller explains
        return f"Dagster's instance in {home} cannot be read: {_first_line(str(error))}"
    servers = tuple(
        _server(str(each.get("host", "127.0.0.1")), int(each["port"])) for each in entries if "port" in each
    )
    return DagsterState(
        home=home,
        heartbeat=at,
        daemon=daemon,
        servers=servers,
        dispatchers=found,
        outdated=outdated,
        sharded=sharded,
        beside=beside(living_at(home)),
    )


def _daemon(instance: "DagsterInstance", at: datetime) -> "AtWork | None":
    """Return the daemon that began last, with a heartbeat; one that has not noted its version has none."""
    from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator
    from tidegate.dagster_defs.coordinator.daemon import noted_daemon
    from tidegate.scheduler.launch.versions import AtWork

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


def _dispatchers(instance: "DagsterInstance", locations: Collection[str] | None) -> Iterator[Dispatcher]:
    """Yield the dispatcher of each code location as it was evaluated last.

    Args:
        locations: the names of the code locations; None if they are not known.
    """
    from tidegate.dagster_defs.deployed.names import DISPATCHER
    from tidegate.dagster_defs.internals.instigators import InstigatorType

    for state in instance.all_instigator_state(instigator_type=InstigatorType.SENSOR):
        location = state.origin.repository_origin.code_location_origin.location_name
        if state.name != DISPATCHER or (locations and location not in locations):
            continue
        name = f"{DISPATCHER} of {location}"
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
    content: Any = {} if file is None else yaml.safe_load(file.read_text()) or {}
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
