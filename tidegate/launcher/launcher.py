"""`TidegateRunLauncher`: launches the runs of Tidegate's code location in its run server.

Runs of all other code locations are launched as Dagster's default launcher does. A run of ours is cancelled
by its server, or directly if that has died; whether it lives says the table of processes. A machine that did
not launch a run can do neither.
"""

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dagster import DagsterInstance, DagsterRun
from dagster._core.errors import DagsterLaunchFailedError
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher.base import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._serdes import ConfigurableClassData, serialize_value

from tidegate.launcher.client import ServerFailed, ask
from tidegate.launcher.config import SCHEMA, LauncherConfig, config_of
from tidegate.launcher.place import Place, environment_of, place_of
from tidegate.launcher.protocol import Cancel, Launch
from tidegate.launcher.records import Records, RunRecord
from tidegate.spark_jobs.commit.process import ProcessState, shown, state_of


class TidegateRunLauncher(DefaultRunLauncher):
    """The launcher that `run_launcher` in `dagster.yaml` names."""

    def __init__(
        self, config: LauncherConfig | None = None, inst_data: ConfigurableClassData | None = None
    ) -> None:
        super().__init__(inst_data)
        self.config = config or LauncherConfig()

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """The settings, for Dagster's check of the file."""
        return SCHEMA

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]
    ) -> "TidegateRunLauncher":
        """Make the launcher of an instance."""
        return cls(config_of(config_value), inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Execute a run in its run server; see `RunLauncher.launch_run`.

        Raises:
            DagsterLaunchFailedError: the run server could not be started.
        """
        run = context.dagster_run
        place = self._place(run)
        if place is None:
            super().launch_run(context)
            return
        request = Launch(
            run_id=run.run_id,
            instance=serialize_value(_reference(self._instance)),
            folder=place.folder,
            environment=environment_of(place.folder),
        )
        try:
            answer = ask(place, request)
        except ServerFailed as error:
            raise DagsterLaunchFailedError(str(error)) from error
        if not answer.done:
            raise DagsterLaunchFailedError(answer.problem)
        self._run_ids.add(run.run_id)

    def terminate(self, run_id: str) -> bool:
        """Interrupt a run; see `RunLauncher.terminate`."""
        run = self._instance.get_run_by_id(run_id) if self.has_instance else None
        if run is None or run.is_finished:
            return False
        place = self._place(run)
        if place is None or GRPC_INFO_TAG in run.tags:
            return super().terminate(run_id)
        self._instance.report_run_canceling(run)
        if self._interrupted(place, run_id):
            return True
        text = f"No process of this machine executes the run ({place.directory}); none was interrupted."
        self._instance.report_engine_event(text, run, cls=type(self))
        return False

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Dagster's run monitoring asks for the runs of this launcher."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Say whether the process of a run lives, as far as this machine knows."""
        place = self._place(run)
        record = None if place is None or GRPC_INFO_TAG in run.tags else _record(place, run.run_id)
        if record is not None and record.process and state_of(record.process) is ProcessState.ENDED:
            return CheckRunHealthResult(
                WorkerStatus.FAILED, f"{shown(record.process)} has ended without a word"
            )
        # Of a run elsewhere its lease decides, by which Tidegate's dispatchers report dead runs.
        return CheckRunHealthResult(WorkerStatus.RUNNING)

    def _interrupted(self, place: Place, run_id: str) -> bool:
        with suppress(ServerFailed):
            if ask(place, Cancel(run_id=run_id)).done:
                return True
        record = _record(place, run_id)
        if record is None or state_of(record.process) is not ProcessState.ALIVE:
            return False
        with suppress(ProcessLookupError):
            os.kill(int(record.process.split("/")[1]), signal.SIGINT)
            return True
        return False

    def _place(self, run: DagsterRun) -> Place | None:
        return place_of(run, self._instance.root_directory, self.config)


def _reference(instance: DagsterInstance) -> InstanceRef:
    return instance.get_ref()


def _record(place: Place, run_id: str) -> RunRecord | None:
    return Records(place.directory).get(run_id)
