"""A project beside that of acme: one Dagster with two locations, and hosts that a test loops."""

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from dagster import DagsterRun, DagsterRunStatus

from tests.dagster_defs.live.project import LiveProject
from tests.worlds.by import CLI
from tidegate.dagster_defs.existing.new_run import NewRun, create_run, snapshots
from tidegate.dagster_defs.host.host import Host
from tidegate.dagster_defs.internals.remote_jobs import JobSubsetSelector
from tidegate.dagster_defs.internals.workspace import WorkspaceFileTarget, WorkspaceProcessContext
from tidegate.processes.code_servers import HOST, free_port
from tidegate.processes.home import SETTINGS_NAME
from tidegate.processes.site import ManagedProcess
from tidegate.project.location import location_of
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.spark_jobs.commit.process import this_process

THEIRS = Path(__file__).parent / "acme" / "definitions.py"
NOTES, PROJECT = "ACME_NOTES", "ACME_PROJECT"


class Acme(LiveProject):
    """The project with the locations `tidegate` and `acme`.

    Attributes:
        merged: whether `acme` has both projects, and there is no other location.
        daemon: whether Dagster's daemon runs, with the queue and the launcher that are its defaults.
        notes: the folder in which the jobs of acme leave what they did.
        said: what the host has logged.
        after: how much the clock of a host is ahead.
    """

    def __init__(self, folder: Path, *, merged: bool = False, daemon: bool = False) -> None:
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text('[warehouse]\ndefault_format = "parquet"\n')
        if daemon:
            (folder / SETTINGS_NAME).write_text("telemetry: {enabled: false}\n")
        super().__init__(folder)
        self.merged, self.daemon = merged, daemon
        self.notes = folder / "notes"
        self.notes.mkdir()
        os.environ[NOTES] = str(self.notes)
        os.environ[PROJECT] = str(folder)
        self.port = free_port()
        self.said: list[str] = []
        self.after = timedelta()
        self.acme: ManagedProcess | None = None

    def start(self) -> None:
        """Start our code server and that of acme; no host."""
        self.processes.__enter__()
        theirs = f"  - grpc_server: {{host: {HOST}, port: {self.port}, location_name: acme}}\n"
        ours = "load_from:\n" if self.merged else self.site.workspace.read_text()
        self.site.workspace.write_text(ours + theirs)
        self.start_acme()
        if not self.merged:
            self.processes.start_code_server()
        self.open_instance()
        if self.daemon:
            self.processes.start_daemon()

    @property
    def target(self) -> WorkspaceFileTarget:
        """The workspace of a host."""
        return WorkspaceFileTarget([str(self.site.workspace)])

    def start_acme(self) -> None:
        """Start the code server of acme, as its team would."""
        command = [
            sys.executable,
            "-m",
            "tests.existing.code_server",
            "api",
            "grpc",
            "-h",
            HOST,
            "-p",
            str(self.port),
        ]
        code = ["-m", "tests.existing.merged"] if self.merged else ["-f", str(THEIRS)]
        self.acme = ManagedProcess("acme", [*command, *code, "--location-name", "acme"], self.site)

    def stop(self) -> None:
        if self.acme is not None:
            self.acme.stop()
        super().stop()

    def now(self) -> datetime:
        """The time of a host."""
        return datetime.now(UTC) + self.after

    def state(self) -> str:
        """The runs too, and what hosts in this process have said."""
        runs = [f"{run.job_name} {run.run_id} {run.status.value}" for run in self.instance.get_runs()]
        return "\n".join([super().state(), *runs, *self.said])

    def reaches(
        self,
        job: Job,
        states: Collection[JobState] = FINISHED,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> Job:
        """Wait until a job is in one of some states.

        Args:
            meanwhile: called after each look that was in vain, as the loop of a host.
        """

        def look() -> list[Job]:
            found = [each for each in [self.job(job.id)] if each.state in states]
            if not found:
                meanwhile()
            return found

        (reached,) = self.until(f"{job.id} is one of {', '.join(states)}", look)
        return reached

    def trigger(self, schedule: str, key: str = "") -> Job:
        """Trigger a schedule of the app `core` by hand."""
        with self.store.transaction() as transaction:
            return trigger(transaction, f"core/{schedule}", datetime.now(UTC), by=CLI, key=key)

    def jobs(self, schedule: str) -> list[Job]:
        """All jobs of a schedule of the app `core`."""
        with self.store.reading() as reader:
            return list(reader.jobs(schedules=[f"core/{schedule}"]))

    def external_runs(self, program: str) -> set[str]:
        """The ids of the observed runs of a program that have no job of ours."""
        with self.store.reading() as reader:
            return {run.run_id for run in reader.runs() if run.program == program and run.job is None}

    def launch_in_acme(self, job: str, tags: dict[str, str]) -> str:
        """Launch a job as the UI of Dagster does, and return the id of its run."""
        with WorkspaceProcessContext(self.instance, self.target) as workspace:
            context = workspace.create_request_context()
            location = context.get_code_location("acme")
            (repository,) = location.get_repositories().values()
            selector = JobSubsetSelector(location.name, repository.name, job, None)
            remote, plan = snapshots(location, selector, {}, self.instance)
            new = NewRun(run_id=str(uuid4()), job=remote, plan=plan, config={}, tags=tags)
            run = create_run(self.instance, repository, new)
            assert run is not None
            self.instance.submit_run(run.run_id, context)
            return run.run_id

    def started(self, job: Job) -> list[str]:
        """The runs of a job of ours that work."""
        return [run.run_id for run in self.runs_of(job) if run.status is DagsterRunStatus.STARTED]

    def job(self, id: str) -> Job:
        with self.store.reading() as reader:
            (found,) = reader.jobs(ids=(id,))
        return found

    def runs_of(self, job: Job) -> list[DagsterRun]:
        """The runs of a job of ours."""
        return [run for run in self.instance.get_runs() if run.tags.get("tidegate/job") == job.id]


@contextmanager
def served(folder: Path, app: str, *, merged: bool = False, daemon: bool = False) -> Iterator[Acme]:
    """The project with an app `core`, whose processes end with the block."""
    project = Acme(folder, merged=merged, daemon=daemon)
    try:
        project.deploy_beside("core.yaml", app)
        project.start()
        yield project
    finally:
        project.stop()


@contextmanager
def host_of(project: Acme) -> Iterator[Host]:
    """A host of the project in this process, whose workspace has both locations."""
    with WorkspaceProcessContext(project.instance, project.target) as workspace:
        location = replace(location_of(project.settings), clock=project.now)
        yield Host(location, project.instance, workspace, this_process(), project.said.append)
