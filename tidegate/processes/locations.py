"""The code locations of a project: ours, and those of others beside it, as Dagster would load them.

    workspace.yaml of the project       where it is there, it counts
    [tool.dagster], [tool.dg.project]   else, of its pyproject.toml
    neither                             ours alone

`tidegate dev` serves each of them from a process of its own. A project that is merged into a location of
others (`tidegate.project_definitions`, or the component of `dg`) has none of its own.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tidegate.dagster_defs.internals.workspace import (
    CodeLocationOrigin,
    GrpcServerCodeLocationOrigin,
    LoadableTargetOrigin,
    ManagedGrpcPythonEnvCodeLocationOrigin,
    WorkspaceFileTarget,
    WorkspaceLoadTarget,
    get_origins_from_toml,
)
from tidegate.domain.error import UserError
from tidegate.processes.code_servers import HOST, Served, free_port
from tidegate.processes.home import WORKSPACE_NAME
from tidegate.processes.site import Site
from tidegate.project.beside import PYPROJECT
from tidegate.project.environment import LOCATION_NAME, MODULE


class PyprojectTarget(WorkspaceLoadTarget):
    """The locations that the pyproject.toml of a folder names; their code is found from that folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create_origins(self) -> Sequence[CodeLocationOrigin]:
        """Return them; none where it has no block of Dagster."""
        return [
            ManagedGrpcPythonEnvCodeLocationOrigin(
                LoadableTargetOrigin(
                    **{**each.loadable_target_origin.as_dict, "working_directory": str(self._folder)}
                ),
                each.location_name,
            )
            for each in get_origins_from_toml(str(self._folder / PYPROJECT))
        ]


def target_of(project: Path) -> WorkspaceLoadTarget | None:
    """Return what names the locations of a project; None where nothing does.

    Raises:
        UserError: the file cannot be read.
    """
    file = file_of(project)
    if file.name == WORKSPACE_NAME:
        return WorkspaceFileTarget([str(file)])
    found = PyprojectTarget(project)
    return found if file.is_file() and origins_of(found, file) else None


def file_of(project: Path) -> Path:
    """Return the file that names the locations of a project; it may be missing."""
    workspace = project / WORKSPACE_NAME
    return workspace if workspace.is_file() else project / PYPROJECT


def origins_of(target: WorkspaceLoadTarget, file: Path) -> list[CodeLocationOrigin]:
    """Return the locations of a target.

    Raises:
        UserError: the file that names them cannot be read.
    """
    try:
        return list(target.create_origins())
    except Exception as error:
        text = f"the code locations in {file} cannot be read: {error}"
        raise UserError(text, "correct the file") from error


def with_locations(site: Site) -> Site:
    """Return a site with the code locations of its project: ours, and those of others."""
    target = target_of(site.project)
    if target is None:
        return site
    origins = origins_of(target, file_of(site.project))
    ours = [each.location_name for each in origins if is_ours(each)]
    others = tuple(_served(each) for each in origins if not is_ours(each))
    return replace(
        site,
        location_name=ours[0] if ours else LOCATION_NAME,
        others=others,
        listed=bool(ours),
    )


def is_ours(origin: CodeLocationOrigin) -> bool:
    """Return whether a location is ours: of our module, or a server of our name, as in production."""
    managed = isinstance(origin, ManagedGrpcPythonEnvCodeLocationOrigin)
    return origin.location_name == LOCATION_NAME or (
        managed and origin.loadable_target_origin.module_name == MODULE
    )


def _served(origin: CodeLocationOrigin) -> Served:
    """Return how a location of others is served: by its own server, or by one that is started."""
    if isinstance(origin, GrpcServerCodeLocationOrigin):
        return Served(name=origin.location_name, host=origin.host, port=origin.port, socket=origin.socket)
    if not isinstance(origin, ManagedGrpcPythonEnvCodeLocationOrigin):
        raise UserError(f"the code location {origin.location_name} cannot be served", "name its module")
    target = origin.loadable_target_origin
    return Served(
        name=origin.location_name,
        host=HOST,
        port=free_port(),
        command=(target.executable_path or sys.executable, *_CODE_SERVER, *target.get_cli_args()),
    )


_CODE_SERVER = ("-m", "dagster", "code-server", "start")
