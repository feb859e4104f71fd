"""`tidegate host`: the process that drives the engine and creates runs, at its own pace."""

import os
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import print_line
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.dagster_defs.internals.workspace import WorkspaceLoadTarget
    from tidegate.project.settings.settings import Settings


def host(
    workspace: Annotated[
        Path | None,
        typer.Option(
            help="Dagster's workspace file with the address of the code server; default: that of"
            " `tidegate dev`, else workspace.yaml or pyproject.toml of the project."
        ),
    ] = None,
) -> None:
    """Take in events, decide and create runs ten times a second, for all apps of the project."""
    from tidegate.processes.home import HOME_VARIABLE, SETTINGS_NAME, check_home, home_in_use
    from tidegate.project.settings.settings import load_settings

    settings = load_settings()
    home = home_in_use(settings)
    if not (home / SETTINGS_NAME).is_file():
        raise UserError(
            f"there is no {SETTINGS_NAME} in {home}",
            f"set {HOME_VARIABLE} to the folder of the daemon, or start `tidegate dev` once",
        )
    check_home(settings, home)
    _run(settings, home, _target(settings, home, workspace))


def _target(settings: "Settings", home: Path, wanted: Path | None) -> "WorkspaceLoadTarget":
    from tidegate.dagster_defs.internals.workspace import WorkspaceFileTarget
    from tidegate.processes.home import workspace_files
    from tidegate.processes.locations import target_of

    candidates = (wanted,) if wanted is not None else workspace_files(settings, home)
    found = next((each for each in candidates if each.is_file()), None)
    if found is not None:
        return WorkspaceFileTarget([str(found)])
    of_project = target_of(settings.project) if wanted is None else None
    if of_project is None:
        raise UserError(
            f"there is no workspace file at {' or '.join(map(str, candidates))}",
            "name it with --workspace: the host creates runs in the code location that it lists",
        )
    return of_project


def _run(settings: "Settings", home: Path, target: "WorkspaceLoadTarget") -> None:
    from tidegate.dagster_defs.coordinator.instance import host_instance
    from tidegate.dagster_defs.host.host import Host
    from tidegate.dagster_defs.internals.workspace import WorkspaceProcessContext
    from tidegate.processes.interrupts import end_on_signals
    from tidegate.project.environment import LARGE_MESSAGES
    from tidegate.project.location import location_of
    from tidegate.spark_jobs.commit.process import this_process

    for name, limit in LARGE_MESSAGES.items():
        os.environ.setdefault(name, limit)
    stop = Event()
    end_on_signals(stop.set)
    with (
        host_instance(home) as instance,
        WorkspaceProcessContext(instance, target) as context,
    ):
        Host(location_of(settings), instance, context, this_process(), _log).run(stop)


def _log(text: str) -> None:
    print_line(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ} host {text}")
