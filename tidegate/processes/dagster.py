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
import signal
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from tidegate.processes.code_servers import (
    HOST,
    Served,
    code_state,
    has_ours,
    inner_has_ended,
    load_problem,
    reload_by_grpc,
)
from tidegate.processes.reaper import STARTED_BY, Reaper
from tidegate.processes.site import ManagedProcess, ProcessFailed, Site
from tidegate.project.loading import RUN_MODULE
from tidegate.spark_jobs.commit.process import new_owner


class DagsterProcesses:
    """The processes of a site; leaving the context stops them all, and so does the end of this process."""

    def __init__(self, site: Site) -> None:
        self._owner = new_owner()
        self.site = replace(site, environment={**site.environment, STARTED_BY: self._owner})
        self._running: dict[str, ManagedProcess] = {}
        self._reaper: Reaper | None = None

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
        command = ["dagster", "code-server", "start", "-h", HOST, "-p", str(site.code_port)]
        where = ["-m", site.module, "-d", str(site.project), "--location-name", site.location_name]
        process = self._start("code-server", [*RUN_MODULE, *command, *where])
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

        return self._start("daemon", [*RUN_MODULE, daemon.MODULE, "run", "-w", str(self.site.workspace)])

    def start_host(self) -> ManagedProcess:
        """Start the host, which drives the engine and creates runs, without waiting for its first loop."""
        return self._start("host", [*RUN_MODULE, "tidegate.cli.main", "host"])

    def start_server(self, port: int) -> ManagedProcess:
        """Start `tidegate serve` beside the host, without waiting for its first answer."""
        command = ["tidegate.cli.main", "serve", "--no-host", "--host", HOST, "--port", str(port)]
        return self._start("server", [*RUN_MODULE, *command])

    def start_webserver(self) -> ManagedProcess:
        """Start the webserver and wait until it answers.

        Raises:
            ProcessFailed: the process ended or does not answer.
        """
        from tidegate.processes.graphql import answers

        command = ["dagster_webserver", "-h", HOST, "-p", str(self.site.web_port)]
        process = self._start("webserver", [*RUN_MODULE, *command, "-w", str(self.site.workspace)])
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
        if self._reaper is not None:
            self._reaper.finish()
            self._reaper = None

    def _start(self, name: str, command: Sequence[str]) -> ManagedProcess:
        if self._reaper is None:
            self._reaper = Reaper(self._owner)
        process = ManagedProcess(name, command, self.site)
        self._running[name] = process
        return process

    def _code_loaded(self, process: ManagedProcess) -> bool:
        loaded, problem = code_state(self.site.code_port)
        if problem is not None:
            raise process.failed(f"cannot load the definitions: {problem}")
        return loaded
