"""A project in a folder, and Dagster running on it for real: what every live test does with it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from dagster import DagsterInstance

from tests import interpreted
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import Scope
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, SETTINGS_NAME, site_of
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.store.open import open_store

T = TypeVar("T")

WAIT_SECONDS = 300

INTERPRETED = "".join(f'"{name}" = "{value}"\n' for name, value in interpreted.INTERPRETED.items())
"""Lines of `[spark.conf]`. The demo has Spark as it is."""


class LiveProject:
    """A project whose settings are written, with its store and processes.

    Attributes:
        instance: the Dagster instance, once it is opened.
    """

    pause_seconds = 0.2
    """From one look to the next."""

    mode = "fork"
    """Of the run launcher, where the project has no settings of its own: each run starts a Spark of its own,
    or takes one that was kept ("warm")."""

    at_once = 4
    """How many runs there are at once; with one, all take one Spark that was kept."""

    instance: DagsterInstance

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        assert "mode: fork" in DEVELOPMENT and "max_concurrent_runs: 4" in DEVELOPMENT
        own = folder / SETTINGS_NAME
        if not own.is_file():
            of_mode = DEVELOPMENT.replace("mode: fork", f"mode: {self.mode}")
            own.write_text(of_mode.replace("max_concurrent_runs: 4", f"max_concurrent_runs: {self.at_once}"))
        self.settings = load_settings(folder)
        self.store = open_store(self.settings.store_url)
        self.site = site_of(self.settings)
        self.processes = DagsterProcesses(self.site)

    def open_instance(self) -> None:
        """Open the Dagster instance; the processes have made it."""
        self.instance = DagsterInstance.from_config(str(self.site.home))

    def stop(self) -> None:
        self.processes.__exit__(None, None, None)
        self.store.close()

    def deploy_beside(self, file: str, text: str, *, assume_published: bool = True) -> None:
        """Deploy an app beside the others of the project."""
        compiled = compile_files({file: text.encode()})
        assert compiled.ok, compiled.diagnostics
        scope = Scope(project=self.settings.name, only=frozenset(compiled.apps))
        with self.store.transaction() as transaction:
            deploy(
                transaction,
                compiled.models(),
                datetime.now(UTC),
                scope=scope,
                by=CLI,
                assume_published=assume_published,
            )

    def until(self, what: str, look: Callable[[], T]) -> T:
        """Look again and again until there is something to see."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (found := look()):
            dead = self.processes.dead()
            assert dead is None, dead and dead.failed("has ended")
            assert time.monotonic() < deadline, f"{what}: not within {WAIT_SECONDS} s\n{self.state()}"
            time.sleep(self.pause_seconds)
        return found

    def state(self) -> str:
        """The jobs, and what each process has said last, for the message of a failure."""
        with self.store.reading() as reader:
            jobs = [str(job) for job in reader.jobs()]
        logs = (f"{log}\n{_end_of(log)}" for log in sorted(self.site.logs.glob("*.log")))
        return "\n".join([*jobs, *logs])


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text().splitlines()[-30:])


class LiveApp:
    """An app of a running project that it shares with others."""

    def __init__(self, project: LiveProject) -> None:
        self.project, self.folder, self.store = project, project.folder, project.store
        self.until = project.until

    @property
    def instance(self) -> DagsterInstance:
        """The Dagster instance of the project, which is opened when its processes have started."""
        return self.project.instance
