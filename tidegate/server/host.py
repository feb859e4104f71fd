"""The host of a server: what drives the engine and creates runs, in a process of its own.

    server ──starts, and starts again──► python -m tidegate.server.host ──► `dagster_defs.host`

    code locations  those of `tidegate dev` while it runs on the project, else those of its workspace.yaml or
                    pyproject.toml, else one of its own: a process that Dagster starts, and that ends with
                    this one
    a deployment    has the code location loaded again, so that new programs can be launched

So nothing that callers do to the server stops the engine. A host that fails to begin (no Dagster home,
definitions that cannot be loaded) is logged and tried again, and one that ends is started again. The server
answers meanwhile, and `/readyz` says that nothing ticks. A host whose server has ended ends, too.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from tidegate.processes.home import HOME_VARIABLE, WORKSPACE_NAME, home_in_use, prepare_home
from tidegate.processes.interrupts import end_on_signals
from tidegate.processes.lock import address_in_use
from tidegate.project.environment import ENVIRONMENT_VARIABLE, LARGE_MESSAGES, PROJECT_VARIABLE
from tidegate.project.loading import RUN_MODULE
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.scheduler.store.engine_reader import revisions_of_apps
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.upkeep import UpkeepStore

if TYPE_CHECKING:
    from tidegate.dagster_defs.internals.workspace import WorkspaceLoadTarget, WorkspaceProcessContext

LOG = logging.getLogger("tidegate.server.host")

AGAIN_SECONDS = 10
"""From a host that failed or ended to the next one."""

LOOK_SECONDS = 2
"""How often deployments are looked for."""

PARENT_SECONDS = 0.5
"""How often a host looks whether its server lives."""

END_SECONDS = 20
"""How long a host may take to release its lease."""


class HostProcess:
    """The host beside a server, started again whenever it ends, until it is stopped."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        """Args:
        say: prints a line.
        """
        self._settings = settings
        self._say = say
        self._stop = Event()
        self._thread = Thread(target=self._keep, name="host", daemon=True)

    def start(self) -> None:
        """Begin, without waiting for the first loop."""
        self._thread.start()

    def stop(self) -> None:
        """End the host, which releases the lease."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(END_SECONDS)

    def _keep(self) -> None:
        while not self._stop.is_set():
            code = self._run()
            if not self._stop.is_set():
                self._say(f"its process ended with {code}; another one begins in {AGAIN_SECONDS} s")
                self._stop.wait(AGAIN_SECONDS)

    def _run(self) -> int:
        """Run one process, and return its exit code."""
        settings = self._settings
        environment = {
            **LARGE_MESSAGES,
            **os.environ,
            PROJECT_VARIABLE: str(settings.project),
            ENVIRONMENT_VARIABLE: settings.environment,
        }
        command = [*RUN_MODULE, "tidegate.server.host", str(os.getpid())]
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) as process:
            while process.poll() is None and not self._stop.wait(PARENT_SECONDS):
                pass
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)
            process.kill()
            return process.wait()


class ServersHost:
    """What the process of the host does."""

    def __init__(self, settings: Settings, store: UpkeepStore, stop: Event) -> None:
        self._settings = settings
        self._store = store
        self._home_is_given = HOME_VARIABLE in os.environ
        self._stop = stop

    def run(self) -> None:
        """Host until the event is set; a failure is logged and tried again."""
        while not self._stop.is_set():
            try:
                self._once()
            except Exception:
                LOG.exception("the host failed; it begins again in %s s", AGAIN_SECONDS)
                self._stop.wait(AGAIN_SECONDS)

    def _once(self) -> None:
        from tidegate.dagster_defs.coordinator.instance import host_instance
        from tidegate.dagster_defs.host.host import Host
        from tidegate.dagster_defs.internals.workspace import WorkspaceProcessContext
        from tidegate.project.location import location_of
        from tidegate.spark_jobs.commit.process import this_process

        settings = self._settings
        home = home_in_use(settings) if self._home_is_given else prepare_home(settings)
        _set_environment(settings, home)
        with (
            host_instance(home) as instance,
            WorkspaceProcessContext(instance, self._target(home)) as context,
        ):
            watch = Thread(target=self._reload, args=(context,), name="deployments", daemon=True)
            watch.start()
            host = Host(location_of(settings), instance, context, this_process(), _say)
            try:
                host.run(self._stop)
            finally:
                watch.join(END_SECONDS)

    def _reload(self, context: "WorkspaceProcessContext") -> None:
        """Load the code locations again after each deployment."""
        known = self._revisions()
        while not self._stop.wait(LOOK_SECONDS):
            try:
                found = self._revisions()
                if found == known:
                    continue
                for name in context.code_location_names:
                    context.reload_code_location(name)
                known = found
            except Exception:
                LOG.exception("the definitions could not be loaded again")

    def _target(self, home: Path) -> "WorkspaceLoadTarget":
        from tidegate.dagster_defs.internals.workspace import ModuleTarget, WorkspaceFileTarget
        from tidegate.processes.locations import target_of
        from tidegate.project.environment import LOCATION_NAME, MODULE

        project = self._settings.project
        of_home = home / WORKSPACE_NAME
        if of_home.is_file() and address_in_use(project):
            return WorkspaceFileTarget([str(of_home)])
        own = target_of(project)
        if own is not None:
            return own
        if of_home.is_file() and self._home_is_given:
            return WorkspaceFileTarget([str(of_home)])
        return ModuleTarget(
            module_name=MODULE,
            attribute=None,
            working_directory=str(project),
            location_name=LOCATION_NAME,
        )

    def _revisions(self) -> Mapping[str, int]:
        with self._store.reading() as reader:
            return revisions_of_apps(reader)


def _set_environment(settings: Settings, home: Path) -> None:
    """Let the processes that Dagster starts find the project and the instance."""
    os.environ[PROJECT_VARIABLE] = str(settings.project)
    os.environ[ENVIRONMENT_VARIABLE] = settings.environment
    os.environ[HOME_VARIABLE] = str(home)
    known = os.environ.get("PYTHONPATH", "")
    if str(settings.project) not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(part for part in (str(settings.project), known) if part)


def _say(line: str) -> None:
    print(f"host: {line}", flush=True)


def _end_with(server: int, stop: Event) -> None:
    """Set the event once the server has ended: its children have another parent then."""
    while not stop.wait(PARENT_SECONDS):
        if os.getppid() != server:
            stop.set()


def main(server: int) -> None:
    """Host the project of the environment until a signal comes or the server has ended.

    Args:
        server: the process id of the server.
    """
    stop = Event()
    end_on_signals(stop.set)
    Thread(target=_end_with, args=(server, stop), name="server", daemon=True).start()
    settings = load_settings()
    store = open_store(settings.store_url)
    try:
        ServersHost(settings, store, stop).run()
    finally:
        store.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
