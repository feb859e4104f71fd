"""Jobs of a loaded code location, and what a run of one is created from.

Why: the host creates runs under ids of its own, as Dagster's sensor daemon does; nothing public can.
Since: Dagster 1.9.
"""

from dagster._core.definitions.selector import JobSubsetSelector
from dagster._core.remote_representation.code_location import CodeLocation
from dagster._core.remote_representation.external import RemoteJob, RemoteRepository
from dagster._core.remote_representation.external_data import PartitionExecutionErrorSnap
from dagster._core.snap.execution_plan_snapshot import ExecutionPlanSnapshot
from dagster._core.storage.tags import RUN_KEY_TAG

__all__ = [
    "RUN_KEY_TAG",
    "CodeLocation",
    "ExecutionPlanSnapshot",
    "JobSubsetSelector",
    "PartitionExecutionErrorSnap",
    "RemoteJob",
    "RemoteRepository",
]
