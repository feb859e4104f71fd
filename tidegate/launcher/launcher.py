"""`TidegateRunLauncher`: launches the runs of Tidegate's code location in its run server.

Runs of all other code locations are launched as Dagster's default launcher does. A run of ours is cancelled
by its server, or directly if that has died; whether it lives says the table of processes. A machine that did
not launch a run can do neither.

Whether a run has a process, or can still get one: what its machine knows before the run has begun.

    tag: the launcher and the server's folder ─► record: the server ─► record: the process of the run

The process decides, and before there is one the server that is to fork it. Without a record the launcher
has not asked a server yet, or has died before. A launcher, server or process elsewhere is unknown here.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from dagster import DagsterRun, DefaultRunLauncher, serialize_value

from tidegate.dagster_defs.deployed.tags import LAUNCH
from tidegate.dagster_defs.internals.errors import DagsterLaunchFailedError
from tidegate.dagster_defs.internals.instance import ConfigurableClassData
from tidegate.dagster_defs.internals.launching import (
    GRPC_INFO_TAG,
    CheckRunHealthResult,
    LaunchRunContext,
    WorkerStatus,
)
from tidegate.domain.value import Value
from tidegate.launcher.client import ServerFailed, find_record, interrupt, launch
from tidegate.launcher.config import SCHEMA, LauncherConfig, config_of
from tidegate.launcher.place import Place, environment_of, place_of
from tidegate.launcher.protocol import SOCKET, Launch
from tidegate.launcher.records import NO_PROCESS, Records
from tidegate.spark_jobs.commit.process import ProcessState, shown, state_of, this_process

NO_SERVER = ""
"""Value of the tag `LAUNCH` of a run that has inherited one, and is launched in another way."""

NOTHING_KNOWN = (ProcessState.UNKNOWN, "nothing is known of its process")


class LaunchNote(Value, frozen=True, kw_only=True):
    """Who launches a run, and in which folder the run server will record it."""

    launcher: str
    folder: str


def note_of_launch(place: Place) -> str:
    """Return the tag of a run that this process is about to launch; its folder exists from then on."""
    place.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    note = LaunchNote(launcher=this_process(), folder=str(place.directory))
    return msgspec.json.encode(note).decode()


def liveness_of(run: DagsterRun) -> tuple[ProcessState, str]:
    """Return whether a run that has not ended has a process or will get one, and why."""
    text = run.tags.get(LAUNCH, NO_SERVER)
    if text == NO_SERVER:
        return NOTHING_KNOWN
    note = msgspec.json.decode(text, type=LaunchNote)
    if not Path(note.folder).is_dir():
        return NOTHING_KNOWN
    record = Records(Path(note.folder)).get(run.run_id)
    if record is None:
        # A launcher that lives may have failed: that it lives says nothing of the run.
        if state_of(note.launcher) is ProcessState.ENDED:
            return (
                ProcessState.ENDED,
                f"its launcher, {shown(note.launcher)}, ended before a run server had it",
            )
        return NOTHING_KNOWN
    if record.process == NO_PROCESS:
        return state_of(
            record.server
        ), f"its run server, {shown(record.server)}, ended before it had a process"
    return state_of(record.process), f"{shown(record.process)} has ended without a word"


class TidegateRunLauncher(DefaultRunLauncher):
    """The launcher that `run_launcher` in `dagster.yaml` names."""

    def __init__(
        self, config: LauncherConfig | None = None, inst_data: ConfigurableClassData | None = None
    ) -> None:
        super().__init__(inst_data)
        self.config = config or LauncherConfig()
        self._environment: Mapping[str, str] = os.environ

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
        self.note_launch(run)
        place = self._place_of(run)
        if place is None:
            super().launch_run(context)
            return
        request = Launch(
            run_id=run.run_id,
            instance=serialize_value(self._instance.get_ref()),
            folder=place.folder,
            environment=environment_of(place.folder, self._environment),
        )
        try:
            answer = launch(place, request)
        except ServerFailed as error:
            raise DagsterLaunchFailedError(str(error)) from error
        if not answer.done:
            raise DagsterLaunchFailedError(answer.problem)
        self._run_ids.add(run.run_id)

    def note_launch(self, run: DagsterRun) -> None:
        """Note on a run that this process is about to launch it, unless that is noted."""
        place = self._place_of(run)
        # A run that is executed again has the tags of the one before, perhaps of another launcher.
        note = note_of_launch(place) if place is not None else NO_SERVER if LAUNCH in run.tags else None
        if note is not None and run.tags.get(LAUNCH) != note:
            self._instance.add_run_tags(run.run_id, {LAUNCH: note})

    def launches_alone(self, run: DagsterRun) -> bool:
        """Return whether a run server that needs no code server executes a run; not one that is stopped."""
        place = self._place_of(run)
        return place is not None and (place.directory / SOCKET).exists()

    def keep_environment(self) -> None:
        """Launch runs with the environment as it is now, whatever a program changes in this process."""
        self._environment = dict(os.environ)

    def _place_of(self, run: DagsterRun) -> Place | None:
        return place_of(run, self._instance.root_directory, self.config, self._environment)

    def terminate(self, run_id: str) -> bool:
        """Interrupt a run; see `RunLauncher.terminate`."""
        run = self._instance.get_run_by_id(run_id) if self.has_instance else None
        if run is None or run.is_finished:
            return False
        # A run that is executed again has the tags of the one before, perhaps of another launcher.
        if GRPC_INFO_TAG in run.tags and find_record(self._instance.root_directory, run_id) is None:
            return super().terminate(run_id)
        self._instance.report_run_canceling(run)
        if interrupt(self._instance.root_directory, run_id):
            return True
        text = "No process of this machine executes the run, so none was interrupted."
        self._instance.report_engine_event(text, run, cls=type(self))
        return False

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Dagster's run monitoring asks for the runs of this launcher."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Say whether the process of a run lives, as far as this machine knows."""
        state, text = self.liveness(run)
        if state is ProcessState.ENDED:
            return CheckRunHealthResult(WorkerStatus.FAILED, text)
        # Of a run elsewhere its lease decides, by which Tidegate's dispatchers report dead runs.
        return CheckRunHealthResult(WorkerStatus.RUNNING)

    def liveness(self, run: DagsterRun) -> tuple[ProcessState, str]:
        """Say whether a run has a process or can get one; see `dagster_defs.run.dead_runs`."""
        return liveness_of(run)
