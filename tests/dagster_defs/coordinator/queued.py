"""An instance with our coordinator, and a launcher of Dagster's that only notes what it launches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin
from dagster._core.test_utils import MockedRunLauncher, create_run_for_test, instance_for_test
from dagster._core.workspace.load_target import EmptyWorkspaceTarget

from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator
from tidegate.dagster_defs.internals.origins import ModuleCodePointer, RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.queue_daemon import QueuedRunCoordinatorDaemon
from tidegate.dagster_defs.internals.workspace import WorkspaceProcessContext

PLACES = 2


class Launcher(MockedRunLauncher):
    """It notes what it is to launch, and launches all but the runs of others alone.

    Not methods that a test gives to Dagster's class: Python remembers of a class that it fits a protocol.
    """

    others: ClassVar[set[str]] = set()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.noted: list[DagsterRunStatus] = []

    def note_launch(self, run: DagsterRun) -> None:
        found = self._instance.get_run_by_id(run.run_id)
        assert found is not None
        self.noted.append(found.status)

    def launches_alone(self, run: DagsterRun) -> bool:
        return run.run_id not in self.others


@dataclass
class Queue:
    """An instance with our coordinator, and a launcher of Dagster's that only notes what it launches."""

    instance: DagsterInstance
    workspace: WorkspaceProcessContext

    @property
    def launched(self) -> list[str]:
        """The runs that were launched, in order."""
        return [run.run_id for run in self.launcher.queue()]

    @property
    def launcher(self) -> Launcher:
        return cast(Launcher, self.instance.run_launcher)

    def created(self, **fields: Any) -> DagsterRun:
        repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("here"), "all")
        python = RepositoryPythonOrigin(sys.executable, ModuleCodePointer("nothing", "nothing"))
        return create_run_for_test(
            self.instance,
            remote_job_origin=RemoteJobOrigin(repository, "job"),
            job_code_origin=JobPythonOrigin("job", python),
            **fields,
        )

    def submit(self, run: DagsterRun) -> DagsterRunStatus:
        """Submit a run and return how it is seen then."""
        returned = self.instance.submit_run(run.run_id, self.workspace.create_request_context())
        found = self.instance.get_run_by_id(run.run_id)
        assert found is not None and found.status is returned.status
        return found.status

    def submit_new(self) -> DagsterRunStatus:
        return self.submit(self.created())

    @property
    def coordinator(self) -> LaunchingCoordinator:
        assert isinstance(self.instance.run_coordinator, LaunchingCoordinator)
        return self.instance.run_coordinator

    def daemon(self) -> QueuedRunCoordinatorDaemon:
        """Dagster's daemon, which begins."""
        return QueuedRunCoordinatorDaemon(self.coordinator.dequeue_interval_seconds)

    def dequeue(self) -> None:
        """One look of Dagster's daemon into the queue."""
        list(self.daemon().run_iteration(self.workspace))

    def start_next(self) -> None:
        """What the process of a run does at its end, if the run began now."""
        self.coordinator.start_next(datetime.now(UTC))

    def end(self, run_id: str) -> None:
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        self.instance.report_run_failed(run)


@contextmanager
def queue_in(folder: Path, config: dict[str, Any], **settings: Any) -> Iterator[Queue]:
    coordinator = {"module": "tidegate.dagster_defs.coordinator", "class": "LaunchingCoordinator"}
    overrides = {
        "run_coordinator": {**coordinator, "config": {"max_concurrent_runs": PLACES, **config}},
        "run_launcher": {"module": __name__, "class": "Launcher"},
        **settings,
    }
    with (
        instance_for_test(overrides=overrides, temp_dir=str(folder)) as instance,
        WorkspaceProcessContext(instance, EmptyWorkspaceTarget()) as workspace,
    ):
        yield Queue(instance, workspace)
