"""The code locations of a workspace, loaded.

Why: the host creates runs in them, which Dagster leaves to its own daemon and webserver.
Since: Dagster 1.5 or before.
"""

from dagster._core.workspace.context import (
    BaseWorkspaceRequestContext,
    IWorkspaceProcessContext,
    WorkspaceProcessContext,
)
from dagster._core.workspace.load_target import ModuleTarget, WorkspaceFileTarget, WorkspaceLoadTarget

__all__ = [
    "BaseWorkspaceRequestContext",
    "IWorkspaceProcessContext",
    "ModuleTarget",
    "WorkspaceFileTarget",
    "WorkspaceLoadTarget",
    "WorkspaceProcessContext",
]
