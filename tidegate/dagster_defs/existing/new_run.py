"""A run that Tidegate creates itself: its id is computed, so that it is created once.

run key (job, attempt) ─► run id ─► snapshots of job and plan ─► row in the table of runs
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID, uuid5

# What Dagster's sensor daemon uses for the same purpose (dagster/_daemon/sensor.py).
from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus

from tidegate.dagster_defs.coordinator.run_rows import Noting
from tidegate.dagster_defs.internals.errors import DagsterRunAlreadyExists
from tidegate.dagster_defs.internals.new_runs import RunDomain
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.remote_jobs import (
    CodeLocation,
    ExecutionPlanSnapshot,
    JobSubsetSelector,
    RemoteJob,
    RemoteRepository,
)

RUN_IDS = UUID("6f0c1d4e-6d5b-5c39-9f0e-5a6d0c2f7b11")
"""The name space of run ids."""


def snapshots(
    location: CodeLocation, selector: JobSubsetSelector, config: Mapping[str, Any], instance: DagsterInstance
) -> tuple[RemoteJob, ExecutionPlanSnapshot]:
    """Ask the server of a location for a job, and for the plan of a run of it."""
    job = location.get_job(selector)
    plan = location.get_execution_plan(
        job, config, step_keys_to_execute=None, known_state=None, instance=instance
    )
    return job, plan.execution_plan_snapshot


def run_id_of(run_key: str) -> str:
    """Return the run id of a run key."""
    return str(uuid5(RUN_IDS, run_key))


@dataclass(frozen=True, kw_only=True, slots=True)
class NewRun:
    """A run that is to be created."""

    run_id: str
    job: RemoteJob
    plan: ExecutionPlanSnapshot
    config: Mapping[str, Any]
    tags: Mapping[str, str]
    assets: frozenset[AssetKey] | None = None


def create_run(
    instance: DagsterInstance,
    repository: RemoteRepository,
    new: NewRun,
    origin: RemoteRepositoryOrigin | None = None,
) -> DagsterRun | None:
    """Create a run, or return the one that has its id: a run id is created once.

    Args:
        origin: of the repository in the workspaces of others, if another one than it was loaded by.
    """
    try:
        return _create(instance.create_run, repository, new, origin)
    except DagsterRunAlreadyExists:
        return instance.get_run_by_id(new.run_id)


def note_run(noting: Noting, repository: RemoteRepository, new: NewRun) -> None:
    """Let an instance note what Dagster writes to create a run; only its snapshots are written now."""
    # It has what Dagster calls of an instance here.
    domain = RunDomain(cast(DagsterInstance, noting))
    _create(domain.create_run, repository, new)


def _create(
    create: Callable[..., DagsterRun],
    repository: RemoteRepository,
    new: NewRun,
    origin: RemoteRepositoryOrigin | None = None,
) -> DagsterRun:
    job = new.job
    remote = job.get_remote_origin() if origin is None else origin.get_job_origin(job.name)
    return create(
        job_name=job.name,
        run_id=new.run_id,
        run_config=new.config,
        status=DagsterRunStatus.NOT_STARTED,
        tags=new.tags,
        root_run_id=None,
        parent_run_id=None,
        step_keys_to_execute=None,
        execution_plan_snapshot=new.plan,
        job_snapshot=job.job_snapshot,
        parent_job_snapshot=job.parent_job_snapshot,
        asset_selection=new.assets,
        asset_check_selection=None,
        resolved_op_selection=job.resolved_op_selection,
        op_selection=None,
        remote_job_origin=remote,
        job_code_origin=job.get_python_origin(),
        asset_graph=repository.asset_graph,
    )
