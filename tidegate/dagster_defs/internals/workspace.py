"""The code locations of a workspace, loaded.

Why: the host creates runs in them, which Dagster leaves to its own daemon and webserver; `plan` compares the
programs that exist in them; `tidegate dev` serves what a project names, as `dagster dev` finds it.
Since: Dagster 1.5 or before.
"""

from dagster._core.remote_origin import (
    CodeLocationOrigin,
    GrpcServerCodeLocationOrigin,
    ManagedGrpcPythonEnvCodeLocationOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import (
    BaseWorkspaceRequestContext,
    IWorkspaceProcessContext,
    WorkspaceProcessContext,
)
from dagster._core.workspace.load_target import (
    ModuleTarget,
    PyProjectFileTarget,
    WorkspaceFileTarget,
    WorkspaceLoadTarget,
    get_origins_from_toml,
)

__all__ = [
    "BaseWorkspaceRequestContext",
    "CodeLocationOrigin",
    "GrpcServerCodeLocationOrigin",
    "IWorkspaceProcessContext",
    "LoadableTargetOrigin",
    "ManagedGrpcPythonEnvCodeLocationOrigin",
    "ModuleTarget",
    "PyProjectFileTarget",
    "WorkspaceFileTarget",
    "WorkspaceLoadTarget",
    "WorkspaceProcessContext",
    "get_origins_from_toml",
]
