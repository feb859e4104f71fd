"""The services of a project's deploy/compose.yaml as processes of this machine, beside a real PostgreSQL.

Commands, variables, health checks, the order of the start and the policies of restarts are those of the file.
What Docker does is done here: the names of services and their ports become places of this machine, and what
ends is started again, or not.
"""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import yaml

from tests.databases import control
from tests.installed.environment import clean_variables
from tidegate.processes.code_servers import HOST, free_port

WAIT_SECONDS = 600
POLL_SECONDS = 0.5
RESTART_SECONDS = 2
END_SECONDS = 60
PASSWORD = "secret"
DATABASE = re.compile(r"postgresql\+psycopg2://postgres:secret@postgres:5432/(\w+)")


def run_lines(dockerfile: Path) -> list[str]:
    """The shell lines of an image, in order."""
    return re.findall(r"^RUN (.*)$", dockerfile.read_text(), re.MULTILINE)


def image_variables(dockerfile: Path) -> dict[str, str]:
    """The variables that every process of an image has."""
    lines = re.findall(r"^ENV (.*)$", dockerfile.read_text(), re.MULTILINE)
    return dict(pair.split("=", 1) for line in lines for pair in shlex.split(line))


class Service:
    """A service of the file, which `tend` starts again when it has ended."""

    def __init__(
        self, name: str, declared: Mapping[str, Any], folder: Path, variables: dict[str, str]
    ) -> None:
        self.name, self._declared, self._folder, self._variables = name, declared, folder, variables
        self.log = folder.parent / f"{name}.log"
        self.starts = 0
        self._ended_at = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it as its container would be."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._declared["command"],
                cwd=self._folder,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.starts += 1

    def tend(self) -> None:
        """Start it again if it has ended, as its policy says."""
        if self.process is None or self.process.poll() is None:
            return
        policy = self._declared["restart"]
        if policy == "always" or (policy == "on-failure" and self.process.returncode != 0):
            self._ended_at = self._ended_at or monotonic()
            if monotonic() - self._ended_at > RESTART_SECONDS:
                self._ended_at = 0.0
                self.start()

    @property
    def is_healthy(self) -> bool:
        """Whether it runs, and its health check passes."""
        if self.process is None or self.process.poll() is not None:
            return False
        check = self._declared.get("healthcheck")
        if check is None:
            return True
        kind, *command = check["test"]
        assert kind == "CMD"
        checked = subprocess.run(command, cwd=self._folder, env=self._variables, capture_output=True)
        return checked.returncode == 0

    def call(self, *command: str) -> str:
        """Run another command in a container of this service, and return what it prints."""
        done = subprocess.run(command, cwd=self._folder, env=self._variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def kill(self) -> None:
        """Kill it with all that it has started, as a container is."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(END_SECONDS)

    def stop(self) -> None:
        """End it with a signal, and kill it where that is not enough."""
        if self.process is None or self.process.poll() is not None:
            return
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


class Composed:
    """The services of a project.

    Attributes:
        port: of a service, by the port that the file has.
    """

    def __init__(self, project: Path, home: Path, binaries: Path, server: Any) -> None:
        self.project, self._server = project, server
        self.port = {port: str(free_port()) for port in ("4266", "8080", "3000")}
        file = project / "deploy" / "compose.yaml"
        content: Any = yaml.safe_load(
            self._placed(file.read_text().replace("${POSTGRES_PASSWORD}", PASSWORD))
        )
        workspace = project / "deploy" / "workspace.production.yaml"
        workspace.write_text(self._placed(workspace.read_text()))
        self._databases: list[str] = [each["content"] for each in content["configs"].values()]
        self._check: list[str] = content["services"]["postgres"]["healthcheck"]["test"]
        self.services: dict[str, Service] = {}
        for name, declared in content["services"].items():
            if name != "postgres":
                image = image_variables(project / "deploy" / "Dockerfile")
                own = {**image, **declared["environment"], "DAGSTER_HOME": str(home)}
                variables = clean_variables(**own)
                variables["PATH"] = f"{binaries}{os.pathsep}{variables['PATH']}"
                self.services[name] = Service(name, declared, project, variables)

    def __getitem__(self, name: str) -> Service:
        return self.services[name]

    @contextmanager
    def up(self) -> Iterator["Composed"]:
        """Start the services in the order of the file: the database, the deployment, all others."""
        self.until(lambda: self.has_database, "the database is healthy")
        for text in ("CREATE DATABASE tidegate;", *self._databases):
            self._server.psql(text)
        try:
            deploy = self["deploy"]
            deploy.start()
            self.until(lambda: deploy.process is not None and deploy.process.poll() == 0, "it is deployed")
            for name, service in self.services.items():
                if name != "deploy":
                    service.start()
            yield self
        finally:
            for service in reversed(self.services.values()):
                service.stop()

    def restart_postgres(self) -> None:
        """End the database at once, and start it again."""
        control(self._server, "stop")
        self.until(lambda: not self.has_database, "its health check fails")
        # Starts it with the options that it had.
        control(self._server, "restart")
        self.until(lambda: self.has_database, "the database is healthy again")

    @property
    def has_database(self) -> bool:
        """Whether the health check of the database passes; its address is a socket here."""
        kind, program, *arguments = self._check
        assert kind == "CMD"
        command = [str(self._server.bin_path / program)]
        command += [self._socket if each == HOST else each for each in arguments]
        return subprocess.run(command, capture_output=True).returncode == 0

    @property
    def _socket(self) -> str:
        """The folder of the database's socket."""
        return str(self._server.get_uri().partition("host=")[2])

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until something holds; what has ended is started again meanwhile."""
        deadline = monotonic() + WAIT_SECONDS
        while not holds():
            assert monotonic() < deadline, f"{what}: not after {WAIT_SECONDS} s\n{self.said()}"
            for service in self.services.values():
                service.tend()
            sleep(POLL_SECONDS)

    def said(self) -> str:
        """The ends of what all services have printed."""
        logs = (service.log for service in self.services.values() if service.log.is_file())
        return "\n".join(f"--- {log.name}\n{log.read_text('utf-8', 'replace')[-3000:]}" for log in logs)

    def _placed(self, text: str) -> str:
        """Return a text of the file with places of this machine for those of containers."""
        socket = shlex.quote(self._socket)
        text = DATABASE.sub(rf"postgresql+psycopg2://postgres:@/\1?host={socket}", text)
        text = text.replace("TIDEGATE_CODE_SERVER: code", f"TIDEGATE_CODE_SERVER: {HOST}")
        for port, own in self.port.items():
            text = text.replace(port, own)
        return text
