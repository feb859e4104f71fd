"""What a launcher of runs is called with, and what it answers.

Why: `run_launcher` in `dagster.yaml` takes any class, but only its base is public.
Since: Dagster 1.5 or before.
"""

from dagster._core.launcher.base import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG

__all__ = ["GRPC_INFO_TAG", "CheckRunHealthResult", "LaunchRunContext", "WorkerStatus"]
