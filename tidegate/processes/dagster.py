"""Dagster's processes for one project, code servers, daemon and webserver, and our host and server.

Each runs in its own process group, writes to a log file, and is stopped together with its child
processes, at the latest when this Python process ends. `tidegate dev`, the demo and the
end-to-end tests use it; it does not depend on what is deployed.

    code servers ◄── daemon        the workspace file that is written here has their addresses
         ▲────────── webserver
         ▲────────── host

A project has a code server of its own beside those of others, or is part of one of them (`Site.merged`).
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import indent
from time import monotonic
from types import TracebackType

import yaml

from tidegate.processes.code_servers import (
    HOST,
    READY_SECONDS,
    Served,
    code_state,
    free_port,
    has_ours,
    inner_has_ended,
    load_problem,
    reload_by_grpc,
)
from tidegate.processes.interrupts import heeding_interrupts
from tidegate.project.environment import LOCATION_NAME, MODULE

CHECKOUT = Path(__file__).parents[2]
"""The folder of the package: a checkout, or site-packages, which is in every process's path."""

STOP_SECONDS = 15
"""Time between SIGTERM and SIGKILL."""

POLL_SECONDS = 0.2
LOG_TAIL_LINES = 20


class ProcessFailed(Exception):
    """A process ended or did not become ready; the message has the end of its log."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """The folders, ports and environment of a project's Dagster processes.

    Attributes:
        project: working directory of all processes; its modules can be imported.
        environment: further environment variables of the processes.
        location_name: of our code location.
        others: the code locations of others beside it.
        listed: whether the files of the project name ours.
        merged: whether the project is part of one of the others, and has no code location of its own.
    """

    project: Path
    home: Path
    logs: Path
    code_port: int = field(default_factory=free_port)
    web_port: int = field(default_factory=free_port)
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    module: str = MODULE
    location_name: str = LOCATION_NAME
    others: tuple[Served, ...] = ()
    listed: bool = True
    merged: bool = False

    @property
    def served(self) -> tuple[Served, ...]:
        """Each code location, ours first."""
        ours = Served(name=self.location_name, host=HOST, port=self.code_port)
        return self.others if self.merged else (ours, *self.others)

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
        entries = [each.entry for each in self.served]
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
        where = ["-m", site.module, "-d", str(site.project), "--location-name", site.location_name]
        process = self._start("code-server", [sys.executable, *command, *where])
        process.wait_until(lambda: self._code_loaded(process))
        return process

    def start_others(self) -> tuple[str, ...]:
        """Start the code servers of others, wait until each is loaded, and return what is wrong with them.

        Where no file names ours, one of them may have the project merged into it.
        """
        started = [each for each in self.site.others if each.command]
        for other in started:
            self._serve(other)
        problems = tuple(problem for other in started if (problem := self._problem_of(other)))
        if not self.site.listed and any(has_ours(each) for each in self.site.others):
            self.site = replace(self.site, merged=True)
            self.site.prepare()
        return problems

    def _serve(self, other: Served) -> None:
        where = ("-h", other.host, "-p", str(other.port), "--location-name", other.name)
        self._start(other.process, [*other.command, *where])

    def _problem_of(self, other: Served) -> str:
        """Wait until a location of others is loaded; return why it is not, or ""."""
        try:
            self._running[other.process].wait_until(lambda: load_problem(other) is not None)
        except ProcessFailed as error:
            return str(error)
        problem = load_problem(other)
        return f"the code location {other.name} is not loaded: {problem}" if problem else ""

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

        site = self.site
        for each in site.others if site.merged else site.served[:1]:
            if "webserver" in self._running:
                problem = reload_location(site.url, each.name)
            else:
                problem = None if each.port is None else reload_by_grpc(each.port)
            if problem is not None:
                raise ProcessFailed(f"the code location could not be reloaded: {problem}")

    def revive_code_server(self) -> bool:
        """Let a code server start its inner process again if that has ended; return whether one had.

        The inner process has the definitions. Runs are processes of their own and continue.

        Raises:
            ProcessFailed: the definitions cannot be loaded again.
        """
        revived = False
        for each in self.site.others:
            if each.command and not self._running[each.process].alive:
                self._serve(each)
                revived = True
        started = (each for each in self.site.served if each.command or each.port == self.site.code_port)
        for port in (each.port for each in started if each.port is not None):
            if not inner_has_ended(port):
                continue
            problem = reload_by_grpc(port)
            if problem is not None:
                raise ProcessFailed(f"the code server could not start again: {problem}")
            revived = True
        return revived

    def dead(self) -> ManagedProcess | None:
        """Return a process that has ended by itself, if any; a code server of others is started again."""
        others = {each.process for each in self.site.others}
        return next(
            (process for name, process in self._running.items() if name not in others and not process.alive),
            None,
        )

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
