"""A project, and hosts that a test loops itself; nothing takes the queued runs.

A code server costs seconds of processor time: only those tests have one that are about it, as `test_host.py`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRun
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget

from tests.dagster_defs.instance import report_day
from tests.dagster_defs.live.live import Live
from tests.dagster_defs.shipped import loading
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.host import questions
from tidegate.dagster_defs.host.host import Host
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext
from tidegate.dagster_defs.internals.origins import InProcessCodeLocationOrigin
from tidegate.dagster_defs.internals.workspace import (
    LoadableTargetOrigin,
    WorkspaceFileTarget,
    WorkspaceLoadTarget,
    WorkspaceProcessContext,
)
from tidegate.processes.home import DEVELOPMENT, SETTINGS_NAME
from tidegate.project.environment import LOCATION_NAME, MODULE, PROJECT_VARIABLE
from tidegate.project.location import location_of
from tidegate.scheduler.model.job import Job

PATIENCE_SECONDS = 60
"""How long a host waits for an answer here: on a busy machine one takes more than three seconds,
and then it says so and launches nothing in that loop."""

ELSEWHERE = "elsewhere/{}/m/b/s/9"
"""The name of a process of which nothing is known here, so that its lease decides."""

NOTHING_EXECUTED = DEVELOPMENT.replace("max_concurrent_runs: 4", "max_concurrent_runs: 0")
"""The settings of an instance whose runs all stay in the queue."""


class Killed(BaseException):
    """The host's process ends here."""


@dataclass
class HostWorld:
    """A project, its workspace, and a clock that a test moves.

    Attributes:
        began: what the clock has shown at first.
        after: what a test has moved the clock by; else it does not move, however slow the machine is.
        said: what the hosts have logged.
    """

    live: Live
    instance: DagsterInstance
    workspace: WorkspaceProcessContext
    after: timedelta = timedelta(0)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    said: list[str] = field(default_factory=list)
    days: Iterator[int] = field(default_factory=lambda: iter(range(1, 29)))

    @property
    def location(self) -> Location:
        return replace(location_of(self.live.settings), clock=self.now)

    def now(self) -> datetime:
        """What the clock shows."""
        return self.began + self.after

    def host(self, number: int = 1, process: str | None = None) -> Host:
        """A host that has not looped yet, in a process elsewhere."""
        name = process or ELSEWHERE.format(number)
        return Host(self.location, self.instance, self.workspace, name, self.said.append)

    def report_day(self) -> str:
        """Report all parts of another day, which makes one schedule launch, and return its key."""
        day = f"2023-03-{next(self.days):02}"
        report_day(self.instance, day)
        return day

    def runs(self, day: str) -> list[DagsterRun]:
        """The runs of a day."""
        return [run for run in self.instance.get_runs() if run.tags.get("dagster/partition") == day]

    def job(self, day: str) -> Job:
        (found,) = [job for job in self.live.jobs("clean_as_it_comes") if job.key == day]
        return found

    def lapse(self) -> None:
        """Let the lease of every host, and every pause between two offers, be over."""
        self.after += timedelta(minutes=10)


@contextmanager
def served(folder: Path, settings: str = NOTHING_EXECUTED) -> Iterator[Live]:
    """A project whose code server runs, and nothing else."""
    (folder / SETTINGS_NAME).write_text(settings)
    live = Live(folder)
    try:
        live.processes.__enter__()
        live.processes.start_code_server()
        live.open_instance()
        yield live
    finally:
        live.stop()


@contextmanager
def loaded_here(
    folder: Path, settings: str = NOTHING_EXECUTED, beside: Callable[[Live], None] = lambda _: None
) -> Iterator[HostWorld]:
    """The world of a host whose code location is loaded in this process, where none is reloaded or lost.

    Args:
        beside: called before the location is loaded, to deploy further apps.
    """
    (folder / SETTINGS_NAME).write_text(settings)
    live = Live(folder)
    beside(live)
    # Dagster keeps for the whole process what it has loaded here; later tests load other definitions.
    kept = loading(DefinitionsLoadContext.get())
    with kept, pytest.MonkeyPatch.context() as patch:
        patch.setenv(PROJECT_VARIABLE, str(folder))
        origin = InProcessCodeLocationOrigin(
            LoadableTargetOrigin(module_name=MODULE, working_directory=str(folder)),
            location_name=LOCATION_NAME,
        )
        live.site.prepare()
        live.open_instance()
        try:
            yield from _with_workspace(live, InProcessWorkspaceLoadTarget(origin))
        finally:
            live.stop()


@contextmanager
def host_world(folder: Path) -> Iterator[HostWorld]:
    """The world of a host with a code server."""
    with served(folder) as live:
        yield from _with_workspace(live, WorkspaceFileTarget([str(live.site.workspace)]))


def _with_workspace(live: Live, target: WorkspaceLoadTarget) -> Iterator[HostWorld]:
    with (
        WorkspaceProcessContext(live.instance, target) as workspace,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(questions, "ANSWER_SECONDS", PATIENCE_SECONDS)
        yield HostWorld(live=live, instance=live.instance, workspace=workspace)
