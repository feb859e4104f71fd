"""Where the code of a run or of a repository is.

Why: the launcher finds the run server of a run by it, and switches and cursors are kept under it.
Since: Dagster 1.10; under this name 1.12.
"""

from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.remote_origin import (
    CodeLocationOrigin,
    GrpcServerCodeLocationOrigin,
    InProcessCodeLocationOrigin,
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteRepositoryOrigin,
)

__all__ = [
    "CodeLocationOrigin",
    "GrpcServerCodeLocationOrigin",
    "InProcessCodeLocationOrigin",
    "ManagedGrpcPythonEnvCodeLocationOrigin",
    "ModuleCodePointer",
    "RemoteRepositoryOrigin",
]
