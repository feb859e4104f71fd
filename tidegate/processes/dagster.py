"""Dagster's three processes for one project, code server, daemon and webserver, and our host and server.

Each runs in its own process group, writes to a log file, and is stopped together with its child
processes, at the latest when this Python process ends. `tidegate dev`, the demo and the
end-to-end tests use it; it does not depend on what is deployed.

    code server ◄── daemon        the workspace file that is written here has its address
         ▲───────── webserver
         ▲───────── host
"""

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from time import monotonic
from types import TracebackType

import yaml

from tidegate.processes.interrupts import heeding_interrupts
from tidegate.processes.others import other_locations
from tidegate.project.environment import LOCATION_NAME, MODULE

HOST = "127.0.0.1"

CHECKOUT = Path(__file__).parents[2]
"""The folder of the package: a checkout, or site-packages, which is in every process's path."""

READY_SECONDS = 120
"""Maximum time until a process answers. Loading a large plan on a busy machine takes a minute."""

STOP_SECONDS = 15
"""Time between SIGTERM and SIGKILL."""

POLL_SECONDS = 0.2
LOG_TAIL_LINES = 20


class ProcessFailed(Exception):
    """A process ended or did not become ready; the message has the end of its log."""


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


@dataclass(frozen=True, kw_only=True)
class Site:
    """The folders, ports and environment of a project's Dagster processes.

    Attributes:
        project: working directory of all processes; its modules can be imported.
        environment: further environment variables of the processes.
    """

    project: Path
    home: Path
    logs: Path
    code_port: int = field(default_factory=free_port)
    web_port: int = field(default_factory=free_port)
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    module: str = MODULE

    @property
    def workspace(self) -> Path:
        """The workspace file, which has the address of the code server."""
        return self.home / "workspace.yaml"

    @property
    def url(self) -> str:
        """The address of the UI."""
        return f"http://{HOST}:{self.web_port}"

    def prepare(self) -> None:
        """Create the folders and write the workspace file."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        ours = {"grpc_server": {"host": HOST, "port": self.code_port, "location_name": LOCATION_NAME}}
        entries = [ours, *other_locations(self.project)]
        listed = indent(yaml.safe_dump(entries, sort_keys=False), "  ")
        self.workspace.write_text(f"load_from:\n{listed}")

    def process_environment(self) -> dict[str, str]:
        """Return the environment of the processes."""
        # The project is first, so that installed packages and checkout folders do not hide its modules.
        checkout = str(CHECKOUT) if (CHECKOUT / "pyproject.toml").is_file() else ""
        parts = (str(self.project), checkout, os.environ.get("PYTHONPATH", ""))
        path = os.pathsep.join(part for part in parts if part)
        return {
            **os.environ,
            "DAGSTER_HOME": str(self.home),
            "PYTHONPATH": path,
            "PYTHONUNBUFFERED": "1",
            **self.environment,
        }


class ManagedProcess:
    """A process with its group and its log."""

    def __init__(self, name: str, command: Sequence[str], site: Site) -> None:
        self.name = name
        self.log = site.logs / f"{name}.log"
        with self.log.open("ab") as output, heeding_interrupts():
            self._popen = subprocess.Popen(
                command,
                cwd=site.project,
                env=site.process_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Its own group: it is stopped with its children, and Ctrl-C reaches only this process.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._popen.poll() is None

    def wait(self, seconds: float) -> bool:
        """Wait for its end and return whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)
        return not self.alive

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """Kill only the process, as a crash would; its children continue."""
        self._popen.kill()
        self._popen.wait()

    def stop(self) -> None:
        """Stop the process and its children with SIGTERM, then SIGKILL."""
        self.signal_group(signal.SIGTERM)
        self.finish()

    def finish(self) -> None:
        """Wait for the end of a process that has got SIGTERM, then send SIGKILL to it and its children."""
        self.wait(STOP_SECONDS)
        self.signal_group(signal.SIGKILL)
        self._popen.wait()

    def failed(self, what: str) -> ProcessFailed:
        """Return an error with the end of the log."""
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        return ProcessFailed(f"{self.name} {what}; the end of {self.log}:\n" + "\n".join(lines))

    def wait_until(self, ready: Callable[[], bool], seconds: float = READY_SECONDS) -> None:
        """Wait until the process is ready.

        Raises:
            ProcessFailed: the process ended or is not ready in time.
        """
        deadline = monotonic() + seconds
        while not ready():
            if self.wait(POLL_SECONDS):
                raise self.failed("ended")
            if monotonic() > deadline:
                raise self.failed(f"was not ready after {seconds:.0f} s")


class DagsterProcesses:
    """The processes of a site; leaving the context stops them all."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._running: dict[str, ManagedProcess] = {}

    def __enter__(self) -> "DagsterProcesses":
        self.site.prepare()
        atexit.register(self.stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        atexit.unregister(self.stop)

    def start_code_server(self) -> ManagedProcess:
        """Start the code server and wait until its definitions are loaded.

        Raises:
            ProcessFailed: the process ended or cannot load the definitions.
        """
        site = self.site
        command = ["-m", "dagster", "code-server", "start", "-h", HOST, "-p", str(site.code_port)]
        where = ["-m", site.module, "-d", str(site.project), "--location-name", LOCATION_NAME]
        process = self._start("code-server", [sys.executable, *command, *where])
        process.wait_until(lambda: self._code_loaded(process))
        return process

    def start_daemon(self) -> ManagedProcess:
        """Start the daemon without waiting for its first tick."""
        from tidegate.dagster_defs.internals import daemon

        command = ["-m", daemon.MODULE, "run", "-w", str(self.site.workspace)]
        return self._start("daemon", [sys.executable, *command])

    def start_host(self) -> ManagedProcess:
        """Start the host, which drives the engine and creates runs, without waiting for its first loop."""
        return self._start("host", [sys.executable, "-m", "tidegate.cli.main", "host"])

    def start_server(self, port: int) -> ManagedProcess:
        """Start `tidegate serve` beside the host, without waiting for its first answer."""
        command = ["-m", "tidegate.cli.main", "serve", "--no-host", "--host", HOST, "--port", str(port)]
        return self._start("server", [sys.executable, *command])

    def start_webserver(self) -> ManagedProcess:
        """Start the webserver and wait until it answers.

        Raises:
            ProcessFailed: the process ended or does not answer.
        """
        from tidegate.processes.graphql import answers

        command = ["-m", "dagster_webserver", "-h", HOST, "-p", str(self.site.web_port)]
        process = self._start("webserver", [sys.executable, *command, "-w", str(self.site.workspace)])
        process.wait_until(lambda: answers(self.site.url))
        return process

    def reload(self) -> None:
        """Make the code server load the current deployment.

        Raises:
            ProcessFailed: the definitions cannot be loaded.
        """
        from tidegate.processes.graphql import reload_location

        if "webserver" in self._running:
            problem = reload_location(self.site.url, LOCATION_NAME)
        else:
            problem = _reload_by_grpc(self.site.code_port)
        if problem is not None:
            raise ProcessFailed(f"the code location could not be reloaded: {problem}")

    def revive_code_server(self) -> bool:
        """Let the code server start its inner process again if that has ended; return whether it had.

        The inner process has the definitions. Runs are processes of their own and continue.

        Raises:
            ProcessFailed: the definitions cannot be loaded again.
        """
        port = self.site.code_port
        if not _inner_has_ended(port):
            return False
        problem = _reload_by_grpc(port)
        if problem is not None:
            raise ProcessFailed(f"the code server could not start again: {problem}")
        return True

    def dead(self) -> ManagedProcess | None:
        """Return a process that has ended by itself, if any."""
        return next((process for process in self._running.values() if not process.alive), None)

    def stop(self) -> None:
        """Stop all processes at once, those that started last first, and then the runs that they launched."""
        from tidegate.launcher.client import stop_servers

        for process in reversed(self._running.values()):
            process.signal_group(signal.SIGTERM)
        while self._running:
            _, process = self._running.popitem()
            process.finish()
        stop_servers(self.site.home, self.site.project)

    def _start(self, name: str, command: Sequence[str]) -> ManagedProcess:
        process = ManagedProcess(name, command, self.site)
        self._running[name] = process
        return process

    def _code_loaded(self, process: ManagedProcess) -> bool:
        loaded, problem = code_state(self.site.code_port)
        if problem is not None:
            raise process.failed(f"cannot load the definitions: {problem}")
        return loaded


def code_state(port: int, host: str = HOST) -> tuple[bool, str | None]:
    """Return whether the code server at a port has loaded its definitions, and its load error."""
    from dagster import deserialize_value

    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient, ListRepositoriesResponse
    from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError, SerializableErrorInfo

    try:
        answer = DagsterGrpcClient(port=port, host=host).list_repositories()
    except DagsterUserCodeUnreachableError:
        return False, None
    found = deserialize_value(answer, (ListRepositoriesResponse, SerializableErrorInfo))
    return (False, found.to_string()) if isinstance(found, SerializableErrorInfo) else (True, None)


def _inner_has_ended(port: int) -> bool:
    """Return whether the code server answers, but the process behind it that has the definitions does not."""
    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient
    from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError

    try:
        DagsterGrpcClient(port=port, host=HOST).ping("")
    except DagsterUserCodeUnreachableError as error:
        # The code server passes on what it met; a slow process behind it would be DEADLINE_EXCEEDED.
        return "UNAVAILABLE" in str(error.__cause__ or error)
    return False


def _reload_by_grpc(port: int) -> str | None:
    """Reload without a webserver and return the load error, if any."""
    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient
    from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError

    # After the reload the code server shuts the process before down, which may have ended already.
    with contextlib.suppress(DagsterUserCodeUnreachableError):
        DagsterGrpcClient(port=port, host=HOST).reload_code(timeout=READY_SECONDS)
    loaded, problem = code_state(port)
    return problem or (None if loaded else "its definitions are not loaded")
