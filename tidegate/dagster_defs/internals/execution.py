"""The execution of a run in this process, and what captures its output.

Why: a run server forks for each run, where Dagster starts a process by a command. Its output has a file
already, into which Dagster would copy what is captured, by two processes for each of the two streams.
Since: Dagster 1.5 or before.
"""

from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.events import EngineEventData
from dagster._core.execution import compute_logs
from dagster._grpc.impl import core_execute_run
from dagster._utils.hosted_user_process import recon_job_from_origin
from dagster._utils.interrupts import capture_interrupts

__all__ = [
    "EngineEventData",
    "ReconstructableJob",
    "capture_interrupts",
    "compute_logs",
    "core_execute_run",
    "recon_job_from_origin",
]
