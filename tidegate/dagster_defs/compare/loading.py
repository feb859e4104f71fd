"""Loads the code locations of a workspace, each by a code server of Dagster's, all at once.

The user's code runs in those servers and nowhere else. A location that does not load in time is reported, and
holds up none of the others.
"""

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from dagster import DagsterInstance

from tidegate.dagster_defs.compare.question import NO_LOCATION, Request
from tidegate.dagster_defs.existing.creation import innermost
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation
from tidegate.dagster_defs.internals.workspace import (
    CodeLocationOrigin,
    ManagedGrpcPythonEnvCodeLocationOrigin,
    PyProjectFileTarget,
    WorkspaceFileTarget,
    WorkspaceLoadTarget,
    WorkspaceProcessContext,
)
from tidegate.domain.wording import listed

LOADED_AT_ONCE = 8
"""Each location that is loaded is a Python process."""

STARTUP_SECONDS = 3600
"""Dagster's own limit for a code server; longer than ours, which reports the location by its name."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The locations of a workspace.

    Attributes:
        locations: those that are loaded, by name.
        problems: why the others are not, by name.
        unlisted: why those are not that programs name and the workspace does not have.
    """

    locations: Mapping[str, CodeLocation]
    problems: Mapping[str, str]
    unlisted: Mapping[str, str] = field(default_factory=dict[str, str])


class _Origins(WorkspaceLoadTarget):
    """A workspace of one location."""

    def __init__(self, origin: CodeLocationOrigin) -> None:
        self._origin = origin

    def create_origins(self) -> Sequence[CodeLocationOrigin]:
        return (self._origin,)


def load_locations(request: Request) -> Loaded:
    """Load the locations of the first workspace that lists others than ours; change the working folder to it.

    Where every question names its location, only those are loaded, unless all jobs are wanted.
    """
    named = {each.existing.location for each in request.questions}
    wanted = None if request.jobs or "" in named else named
    looked_at = [Path(file) for file in request.files if Path(file).is_file()]
    for file in looked_at:
        try:
            origins = _others(file, request)
        except Exception as error:  # noqa: BLE001 -- whatever Dagster makes of the file
            return Loaded({}, {NO_LOCATION: f"{file.name} cannot be read: {_first_line(error)}"})
        if origins:
            text = f"it is not in {file.name}, which lists {listed(sorted(origins), 'and')}"
            unlisted = dict.fromkeys(named - {""} - origins.keys(), text)
            chosen = [origin for name, origin in origins.items() if wanted is None or name in wanted]
            return replace(_load(chosen, request.seconds), unlisted=unlisted)
    return Loaded({}, {NO_LOCATION: _nothing_listed(looked_at, request.files)})


def _nothing_listed(looked_at: Collection[Path], files: Sequence[str]) -> str:
    if looked_at:
        return f"{' and '.join(file.name for file in looked_at)} lists no other location than this project"
    return f"there is no {' or '.join(dict.fromkeys(Path(file).name for file in files))}"


def _others(file: Path, request: Request) -> dict[str, CodeLocationOrigin]:
    # Dagster finds the modules of a pyproject.toml from the working folder.
    os.chdir(file.parent)
    is_toml = file.suffix == ".toml"
    target = PyProjectFileTarget(str(file)) if is_toml else WorkspaceFileTarget([str(file)])
    return {each.location_name: each for each in target.create_origins() if not _is_ours(each, request)}


def _is_ours(origin: CodeLocationOrigin, request: Request) -> bool:
    if isinstance(origin, ManagedGrpcPythonEnvCodeLocationOrigin):
        return origin.loadable_target_origin.module_name == request.own_module
    return origin.location_name == request.own_name


def _load(origins: Sequence[CodeLocationOrigin], seconds: float) -> Loaded:
    settings = {
        "code_servers": {"local_startup_timeout": STARTUP_SECONDS},
        "telemetry": {"enabled": False},
    }
    instance = DagsterInstance.local_temp(tempfile.mkdtemp(prefix="tidegate-locations-"), overrides=settings)
    # Not closed: a location that hangs would hold up the end of the pool. The process ends at once after it.
    pool = ThreadPoolExecutor(LOADED_AT_ONCE)
    loading = {
        origin.location_name: pool.submit(WorkspaceProcessContext, instance, _Origins(origin))
        for origin in origins
    }
    wait(loading.values(), seconds)
    locations: dict[str, CodeLocation] = {}
    problems: dict[str, str] = {}
    for name, workspace in loading.items():
        if not workspace.done():
            problems[name] = f"it was not loaded within {seconds:.0f} s"
            continue
        entry = workspace.result().create_request_context().get_code_location_entries()[name]
        if entry.code_location is not None:
            locations[name] = entry.code_location
        else:
            problems[name] = "" if entry.load_error is None else innermost(entry.load_error)
    return Loaded(locations, problems)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
