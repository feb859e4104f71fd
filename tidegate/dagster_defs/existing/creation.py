"""The run of an existing job: what it needs of its code server, its row, and its submission.

    target ─► partitions ─► job, plan and config, of the code server ─► create ─► submit

The run id is computed from job, attempt and lost starts, so a process that took over creates no second run.
The user's own coordinator and launcher start the run.
"""

from collections.abc import Callable, Mapping
from typing import cast

from dagster import DagsterInstance, DagsterRunStatus

from tidegate.dagster_defs.existing.loaded import Target, configures_partitions, cut_of
from tidegate.dagster_defs.existing.new_run import NewRun, create_run, run_id_of, snapshots
from tidegate.dagster_defs.existing.request import ExistingRequest, Impossible, partition_tags
from tidegate.dagster_defs.internals.errors import SerializableErrorInfo
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.remote_jobs import (
    ExecutionPlanSnapshot,
    JobSubsetSelector,
    PartitionExecutionErrorSnap,
    RemoteJob,
)
from tidegate.dagster_defs.internals.workspace import BaseWorkspaceRequestContext

PROBLEM_CHARS = 300

Answers = tuple[RemoteJob, ExecutionPlanSnapshot, Mapping[str, object]]


class LocationAway(Exception):
    """The location that has a job is not loaded, or its server does not answer."""


def submit(
    instance: DagsterInstance,
    target: Target,
    request: ExistingRequest,
    ask: Callable[[object, Callable[[], Answers]], Answers],
    workspace: BaseWorkspaceRequestContext | None,
    origin: RemoteRepositoryOrigin | None = None,
) -> str | None:
    """Create and submit a run; return its id, or None if it was submitted before.

    Args:
        ask: asks the code server a question, which has a key.
        workspace: for a coordinator that launches; None where it is a queue.
        origin: of the repository, where the loaded location is not the one of the workspace.

    Raises:
        Impossible: the job cannot have such a run.
        LookupError: the job does not have the partition yet.
    """
    run_id = run_id_of(request.launch.run_key)
    run = instance.get_run_by_id(run_id)
    if run is None:
        new = _new_run(instance, run_id, target, request, ask)
        run = create_run(instance, target.repository, new, origin)
    if run is None or run.status is not DagsterRunStatus.NOT_STARTED:
        return None
    # A queue only notes the run, and needs no workspace for that.
    instance.submit_run(run_id, cast("BaseWorkspaceRequestContext", workspace))
    return run_id


def _new_run(
    instance: DagsterInstance,
    run_id: str,
    target: Target,
    request: ExistingRequest,
    ask: Callable[[object, Callable[[], Answers]], Answers],
) -> NewRun:
    keys, config = request.launch.launch.partitions, request.launch.launch.config
    partition = partition_tags(target.name, keys, cut_of(target), instance)
    key = keys[0] if config is None and len(keys) == 1 and configures_partitions(target) else None
    remote, plan, config = ask((target.job, run_id), lambda: _answers(instance, target, config or {}, key))
    tags = {**remote.run_tags, **request.own_tags, **partition}
    return NewRun(run_id=run_id, job=remote, plan=plan, config=config, tags=tags, assets=target.assets)


def _answers(
    instance: DagsterInstance, target: Target, config: Mapping[str, object], key: str | None
) -> Answers:
    """Ask the server for the job, the plan of its run, and the config of a partition.

    Raises:
        Impossible: the code of the job cannot configure the partition.
    """
    location, repository = target.location, target.repository
    if key is not None:
        snap = location.get_partition_config(repository.handle, target.job, key, instance)
        if isinstance(snap, PartitionExecutionErrorSnap):
            why = "" if snap.error is None else f": {innermost(snap.error)}"
            raise Impossible(f"its code cannot configure the partition {key}{why}", "correct it there")
        config = snap.run_config
    selector = JobSubsetSelector(
        location_name=location.name,
        repository_name=repository.name,
        job_name=target.job,
        op_selection=None,
        asset_selection=None if target.assets is None else sorted(target.assets),
        asset_check_selection=None,
    )
    return *snapshots(location, selector, config, instance), config


def not_loaded(name: str, error: SerializableErrorInfo | None = None) -> str:
    """Return that a location is not loaded, and why."""
    why = "" if error is None else f": {innermost(error)}"
    return f"the location {name} is not loaded{why}"


def innermost(error: SerializableErrorInfo) -> str:
    """Return the innermost cause of why a location is not loaded, in one line."""
    while error.cause is not None:
        if error.cls_name == "DagsterUserCodeUnreachableError":
            return "its server does not answer"  # what is below is the protocol's, and names sockets
        error = error.cause
    return " ".join(error.message.split())[:PROBLEM_CHARS]
