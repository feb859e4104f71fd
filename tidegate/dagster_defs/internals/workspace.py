"""The code locations of a workspace, loaded.

Why: the host creates runs in them, which Dagster leaves to its own daemon and webserver; `plan` compares the
programs that exist in them.
Since: Dagster 1.5 or before.
"""

from dagster._core.remote_origin import CodeLocationOrigin, ManagedGrpcPythonEnvCodeLocationOrigin
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
)

__all__ = [
    "BaseWorkspaceRequestContext",
    "CodeLocationOrigin",
    "IWorkspaceProcessContext",
    "ManagedGrpcPythonEnvCodeLocationOrigin",
    "ModuleTarget",
    "PyProjectFileTarget",
    "WorkspaceFileTarget",
    "WorkspaceLoadTarget",
    "WorkspaceProcessContext",
]
