"""Runs that the host creates and submits itself, as Dagster's sensor daemon does for a run request.

    run id of (job, attempt) ─► job and plan snapshots (kept) ─► create ─┬──────────────────► submit
                                                                         └─exists, not submitted─┘

The run id is computed from the run key, so a second creation fails in the table of runs, whichever process
makes it. After a crash between creation and submission the next offer of the job submits the run.
"""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID, uuid5

# What Dagster's sensor daemon uses for the same purpose (dagster/_daemon/sensor.py).
from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus, RunRequest
from dagster._core.definitions.selector import JobSubsetSelector
from dagster._core.errors import DagsterRunAlreadyExists
from dagster._core.remote_representation.code_location import CodeLocation
from dagster._core.remote_representation.external import RemoteJob, RemoteRepository
from dagster._core.snap.execution_plan_snapshot import ExecutionPlanSnapshot
from dagster._core.storage.tags import RUN_KEY_TAG
from dagster._core.workspace.context import BaseWorkspaceRequestContext, IWorkspaceProcessContext

from tidegate.dagster_defs.definitions.names import dispatcher_name

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

    def __init__(self, instance: DagsterInstance, workspace: IWorkspaceProcessContext) -> None:
        self._instance = instance
        self._workspace = workspace
        self._snapshots: dict[object, tuple[RemoteJob, ExecutionPlanSnapshot]] = {}
        self._location: CodeLocation | None = None

    def submit(self, request: RunRequest, apps: Collection[str], tags: Mapping[str, str]) -> str | None:
        """Create and submit the run of a request.

        Args:
            request: with a run key.
            apps: the project's apps, by whose dispatchers its code location is found.
            tags: more tags of the run.

        Returns:
            The run id; None if the run was submitted before.

        Raises:
            NotLoaded: the code location cannot make the run yet.
        """
        run_id = run_id_of(request.run_key or "")
        context = self._workspace.create_request_context()
        run = self._create(run_id, request, tags, context, apps)
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
        apps: Collection[str],
    ) -> DagsterRun | None:
        location, repository = self._found(context, apps)
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

    def _found(
        self, context: BaseWorkspaceRequestContext, apps: Collection[str]
    ) -> tuple[CodeLocation, RemoteRepository]:
        """Return the code location with the dispatcher of one of the apps."""
        problems: list[str] = []
        for name, entry in context.get_code_location_entries().items():
            if entry.code_location is None:
                problems.append(f"{name} is not loaded")
                continue
            for repository in entry.code_location.get_repositories().values():
                if any(repository.has_sensor(dispatcher_name(app)) for app in apps):
                    return entry.code_location, repository
        raise NotLoaded(
            "; ".join(problems) or "no code location of the workspace has a dispatcher of the project"
        )

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
