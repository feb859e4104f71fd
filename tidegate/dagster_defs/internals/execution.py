"""The execution of a run in this process.

Why: a run server forks for each run, where Dagster starts a process by a command.
Since: Dagster 1.5 or before.
"""

from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.events import EngineEventData
from dagster._grpc.impl import core_execute_run
from dagster._utils.hosted_user_process import recon_job_from_origin
from dagster._utils.interrupts import capture_interrupts

__all__ = [
    "EngineEventData",
    "ReconstructableJob",
    "capture_interrupts",
    "core_execute_run",
    "recon_job_from_origin",
]
