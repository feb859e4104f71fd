"""Runs that the host creates and submits itself, as Dagster's sensor daemon does for a run request.

    run id of (job, attempt) ─► job and plan snapshots (kept) ─► create ─┬──────────────────► submit
                                                                         └─exists, not submitted─┘

The run id is computed from the run key, so a second creation fails in the table of runs, whichever process
makes it. After a crash between creation and submission the next offer of the job submits the run.
"""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID, uuid5

# What Dagster's sensor daemon uses for the same purpose (dagster/_daemon/sensor.py).
from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus, RunRequest
from dagster._core.definitions.selector import JobSubsetSelector
from dagster._core.errors import DagsterRunAlreadyExists
from dagster._core.remote_representation.code_location import CodeLocation
from dagster._core.remote_representation.external import RemoteJob, RemoteRepository
from dagster._core.scheduler.instigation import InstigatorStatus
from dagster._core.snap.execution_plan_snapshot import ExecutionPlanSnapshot
from dagster._core.storage.tags import RUN_KEY_TAG
from dagster._core.workspace.context import BaseWorkspaceRequestContext, IWorkspaceProcessContext

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.deployed.tags import PROJECT

RUN_IDS = UUID("6f0c1d4e-6d5b-5c39-9f0e-5a6d0c2f7b11")
"""The name space of run ids."""

SNAPSHOTS_KEPT = 1_000
"""Size of the cache of snapshots: programs of a loaded code location."""


class NotLoaded(Exception):
    """The workspace has no code location of the project, or one that does not know what is requested."""


def run_id_of(run_key: str) -> str:
    """Return the run id of a run key."""
    return str(uuid5(RUN_IDS, run_key))


class Runs:
    """Creates runs in the project's code location of a workspace."""

    def __init__(self, instance: DagsterInstance, workspace: IWorkspaceProcessContext, project: str) -> None:
        self._instance = instance
        self._project = project
        self._workspace = workspace
        self._snapshots: dict[object, tuple[RemoteJob, ExecutionPlanSnapshot]] = {}
        self._location: CodeLocation | None = None

    def dispatcher_is_off(self) -> bool:
        """Return whether a person has switched off the sensor of the project's code location."""
        for _, repository in self._repositories(self._workspace.create_request_context(), []):
            sensor = repository.get_sensor(DISPATCHER)
            state = self._instance.get_instigator_state(sensor.get_remote_origin_id(), sensor.selector_id)
            return state is not None and state.status is InstigatorStatus.STOPPED
        return False

    def submit(self, request: RunRequest, tags: Mapping[str, str]) -> str | None:
        """Create and submit the run of a request.

        Args:
            request: with a run key.
            tags: more tags of the run.

        Returns:
            The run id; None if the run was submitted before.

        Raises:
            NotLoaded: the code location cannot make the run yet.
        """
        run_id = run_id_of(request.run_key or "")
        context = self._workspace.create_request_context()
        run = self._create(run_id, request, tags, context)
        if run is None or run.status is not DagsterRunStatus.NOT_STARTED:
            return None
        self._instance.submit_run(run.run_id, context)
        return run.run_id

    def _create(
        self,
        run_id: str,
        request: RunRequest,
        tags: Mapping[str, str],
        context: BaseWorkspaceRequestContext,
    ) -> DagsterRun | None:
        location, repository = self._found(context)
        job, plan = self._snapshot(location, repository, str(request.job_name), request.asset_selection)
        selection = None if request.asset_selection is None else frozenset(request.asset_selection)
        try:
            return self._instance.create_run(
                job_name=job.name,
                run_id=run_id,
                run_config=request.run_config,
                status=DagsterRunStatus.NOT_STARTED,
                tags={**job.run_tags, **request.tags, **tags, RUN_KEY_TAG: request.run_key or ""},
                root_run_id=None,
                parent_run_id=None,
                step_keys_to_execute=None,
                execution_plan_snapshot=plan,
                job_snapshot=job.job_snapshot,
                parent_job_snapshot=job.parent_job_snapshot,
                asset_selection=selection,
                asset_check_selection=None,
                resolved_op_selection=job.resolved_op_selection,
                op_selection=None,
                remote_job_origin=job.get_remote_origin(),
                job_code_origin=job.get_python_origin(),
                asset_graph=repository.asset_graph,
            )
        except DagsterRunAlreadyExists:
            return self._instance.get_run_by_id(run_id)

    def _found(self, context: BaseWorkspaceRequestContext) -> tuple[CodeLocation, RemoteRepository]:
        """Return the code location with the dispatcher of the project."""
        problems: list[str] = []
        for found in self._repositories(context, problems):
            return found
        raise NotLoaded(
            "; ".join(problems) or "no code location of the workspace has a dispatcher of the project"
        )

    def _repositories(
        self, context: BaseWorkspaceRequestContext, problems: list[str]
    ) -> Iterator[tuple[CodeLocation, RemoteRepository]]:
        """Yield the repositories with a dispatcher of the project; note the locations that are not loaded."""
        for name, entry in context.get_code_location_entries().items():
            if entry.code_location is None:
                problems.append(f"{name} is not loaded")
                continue
            for repository in entry.code_location.get_repositories().values():
                if not repository.has_sensor(DISPATCHER):
                    continue
                if repository.get_sensor(DISPATCHER).tags.get(PROJECT, NO_PROJECT) == self._project:
                    yield entry.code_location, repository

    def _snapshot(
        self,
        location: CodeLocation,
        repository: RemoteRepository,
        job_name: str,
        assets: Sequence[AssetKey] | None,
    ) -> tuple[RemoteJob, ExecutionPlanSnapshot]:
        """Return the snapshots of a job, or of a part of it; they are kept until the location is reloaded."""
        if location is not self._location or len(self._snapshots) >= SNAPSHOTS_KEPT:
            self._snapshots.clear()
            self._location = location
        key = (job_name, None if assets is None else frozenset(assets))
        if key not in self._snapshots:
            selector = JobSubsetSelector(
                location_name=location.name,
                repository_name=repository.name,
                job_name=job_name,
                op_selection=None,
                asset_selection=assets,
                asset_check_selection=None,
            )
            job = location.get_job(selector)
            plan = location.get_execution_plan(
                job, {}, step_keys_to_execute=None, known_state=None, instance=self._instance
            )
            self._snapshots[key] = (job, plan.execution_plan_snapshot)
        return self._snapshots[key]
