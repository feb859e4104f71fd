"""The errors of Dagster that are caught or raised here, and how it sends one from process to process.

Why: the public errors are those of definitions; these are of code servers, runs and launchers.
Since: Dagster 1.5 or before; `dagster_shared` 1.10.
"""

from dagster._core.errors import (
    DagsterCodeLocationLoadError,
    DagsterLaunchFailedError,
    DagsterRunAlreadyExists,
    DagsterUserCodeUnreachableError,
)
from dagster_shared.error import SerializableErrorInfo

__all__ = [
    "DagsterCodeLocationLoadError",
    "DagsterLaunchFailedError",
    "DagsterRunAlreadyExists",
    "DagsterUserCodeUnreachableError",
    "SerializableErrorInfo",
]
