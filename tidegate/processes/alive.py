"""Whether Dagster works on a project: its daemon, its code server, and the dispatchers of an app.

The daemon writes a heartbeat and the result of each evaluation into Dagster's instance; a code server is
asked for its definitions. Nothing is changed. Dagster is imported only when the function is called, since
that takes seconds.
"""

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tidegate.processes.dagster import code_state
from tidegate.processes.home import HOME_VARIABLE, SETTINGS_NAME, home_in_use, workspace_files

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from tidegate.project.settings.settings import Settings

SENSOR_DAEMON = "SENSOR"
CONNECT_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeServer:
    """A code server of the workspace.

    Attributes:
        address: host and port.
        problem: why it does not serve its definitions; "" if it does.
    """

    address: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatcher:
    """The sensor of an app, as Dagster's daemon has it.

    Attributes:
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
        servers: the code servers of the workspace; none where Dagster's processes load the code themselves.
        dispatchers: the dispatcher of each app that was asked for and that the daemon has seen.
    """

    home: Path
    heartbeat: datetime | None
    servers: tuple[CodeServer, ...] = ()
    dispatchers: tuple[Dispatcher, ...] = ()


def dagster_state(settings: "Settings", apps: Sequence[str]) -> DagsterState | str:
    """Return what Dagster says about the dispatchers of some apps, or why it cannot be read."""
    home = home_in_use(settings)
    if not (home / SETTINGS_NAME).is_file():
        return f"there is no {SETTINGS_NAME} in {home}; set {HOME_VARIABLE} to the folder of the daemon"
    from dagster import DagsterInstance

    from tidegate.dagster_defs.definitions.names import dispatcher_name

    try:
        with DagsterInstance.from_config(str(home)) as instance:
            heartbeat = instance.get_daemon_heartbeats().get(SENSOR_DAEMON)
            names = [dispatcher_name(app) for app in apps]
            found = tuple(_dispatchers(instance, names))
    except Exception as error:  # noqa: BLE001 -- must not hide what the caller explains
        return f"Dagster's instance in {home} cannot be read: {_first_line(str(error))}"
    servers = tuple(_servers(*workspace_files(settings, home)))
    at = None if heartbeat is None else datetime.fromtimestamp(heartbeat.timestamp, UTC)
    return DagsterState(home=home, heartbeat=at, servers=servers, dispatchers=found)


def _dispatchers(instance: "DagsterInstance", names: Sequence[str]) -> Iterator[Dispatcher]:
    """Yield each dispatcher as it was evaluated last, in whichever code location."""
    newest: dict[str, Dispatcher] = {}
    for state in instance.all_instigator_state():
        if state.name not in names:
            continue
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1)
        found = Dispatcher(name=state.name, on=state.is_running)
        if ticks:
            error = ticks[0].error
            found = Dispatcher(
                name=state.name,
                on=state.is_running,
                at=datetime.fromtimestamp(ticks[0].timestamp, UTC),
                problem="" if error is None else _first_line(error.message),
            )
        known = newest.get(state.name)
        if known is None or known.at is None or (found.at is not None and found.at > known.at):
            newest[state.name] = found
    yield from newest.values()


def _servers(*workspaces: Path) -> Iterator[CodeServer]:
    """Yield the code servers that the first of these files names, if it exists."""
    file = next((each for each in workspaces if each.is_file()), None)
    content: Any = {} if file is None else yaml.safe_load(file.read_text()) or {}
    for entry in content.get("load_from", []):
        server = entry.get("grpc_server") if isinstance(entry, dict) else None
        if server and "port" in server:
            yield _server(str(server.get("host", "127.0.0.1")), int(server["port"]))


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
