"""A site, the folders, ports and environment of a project's processes, and a process that is started there.

A process has its own process group and its log, and is stopped with its children.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from time import monotonic

from tidegate.processes.code_servers import HOST, READY_SECONDS, Served, free_port
from tidegate.processes.interrupts import heeding_interrupts
from tidegate.project.environment import LARGE_MESSAGES, LOCATION_NAME, MODULE

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
        import yaml

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
            **LARGE_MESSAGES,
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
