"""Where the runs of a code location are executed: which run server, and whether it is one of ours at all.

A run server is on the launcher's machine, and has the Python, the folder and the module of the code location.
Runs of code servers elsewhere, of images and of other modules are launched by Dagster's default launcher.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
from dagster import DagsterRun

from tidegate.dagster_defs.internals.origins import (
    CodeLocationOrigin,
    GrpcServerCodeLocationOrigin,
    ManagedGrpcPythonEnvCodeLocationOrigin,
    ModuleCodePointer,
)
from tidegate.domain.value import Value
from tidegate.launcher.config import LauncherConfig
from tidegate.project.environment import PROJECT_VARIABLE
from tidegate.project.settings.settings import SETTINGS_FILE
from tidegate.spark_jobs.commit.process import this_machine

FOLDER = "launcher"
"""The folder of all run servers below that of the Dagster instance."""

DIGEST_DIGITS = 16
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SUPPORTED = ("linux",)
"""Where a fork is safe, and processes can be named: on macOS, system libraries do not survive a fork."""

AT_START = ("PYTHON", "LD_", "MALLOC_")
"""Beginnings of the variables that a process reads when it starts; the others are given to each run."""


class Place(Value, frozen=True, kw_only=True):
    """What a run server is started with; runs that differ in it have different servers.

    Attributes:
        executable: the Python of the code location.
    """

    home: str
    executable: str
    folder: str
    module: str
    machine: tuple[str, ...]
    start: Mapping[str, str]
    config: LauncherConfig

    @property
    def directory(self) -> Path:
        """The private folder of the server."""
        content = msgspec.json.encode(self, order="sorted")
        return servers_of(self.home) / hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]


def servers_of(home: str | Path) -> Path:
    """Return the folder with the folders of all run servers of a Dagster instance."""
    return Path(home) / FOLDER


def place_of(
    run: DagsterRun, home: str, config: LauncherConfig, environment: Mapping[str, str] = os.environ
) -> Place | None:
    """Return where a run is executed; None for one that Dagster's default launcher has to launch."""
    code = run.job_code_origin
    if sys.platform not in SUPPORTED or code is None or run.remote_job_origin is None:
        return None
    origin, pointer = code.repository_origin, code.repository_origin.code_pointer
    if origin.container_image is not None or not isinstance(pointer, ModuleCodePointer):
        return None
    if pointer.module not in config.modules:
        return None
    if not _is_here(run.remote_job_origin.repository_origin.code_location_origin):
        return None
    folder = pointer.working_directory or str(Path.cwd())
    if not (Path(folder).is_dir() and os.access(origin.executable_path, os.X_OK)):
        return None
    return Place(
        home=home,
        executable=origin.executable_path,
        folder=folder,
        module=pointer.module,
        machine=tuple(this_machine()),
        start={name: value for name, value in environment.items() if name.startswith(AT_START)},
        config=config,
    )


def environment_of(folder: str, own: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of the runs of a code location: the launcher's, with the location's project."""
    environment = dict(own)
    if (Path(folder) / SETTINGS_FILE).is_file():
        environment[PROJECT_VARIABLE] = folder
    return environment


def _is_here(origin: CodeLocationOrigin) -> bool:
    if isinstance(origin, GrpcServerCodeLocationOrigin):
        return origin.socket is not None or origin.host in LOOPBACK
    return isinstance(origin, ManagedGrpcPythonEnvCodeLocationOrigin)
