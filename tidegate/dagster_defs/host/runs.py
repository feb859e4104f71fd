"""Runs that the host creates and submits itself, as Dagster's sensor daemon does for a run request.

    run id of (job, attempt) ─► job and plan snapshots (kept) ─► create ─┬──────────────────► submit
                                                                         └─exists, not submitted─┘

The run id is computed from the run key, so a second creation fails in the table of runs, whichever process
makes it. After a crash between creation and submission the next offer of the job submits the run.
"""

from collections.abc import Mapping, Sequence

from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus, RunRequest
from sqlalchemy.exc import InterfaceError, OperationalError

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.existing.creation import not_loaded
from tidegate.dagster_defs.existing.new_run import NewRun, create_run, run_id_of, snapshots
from tidegate.dagster_defs.host.questions import Loading, Questions
from tidegate.dagster_defs.internals.errors import (
    DagsterCodeLocationLoadError,
    DagsterUserCodeUnreachableError,
)
from tidegate.dagster_defs.internals.instigators import InstigatorStatus
from tidegate.dagster_defs.internals.remote_jobs import (
    RUN_KEY_TAG,
    CodeLocation,
    ExecutionPlanSnapshot,
    JobSubsetSelector,
    RemoteJob,
    RemoteRepository,
)
from tidegate.dagster_defs.internals.workspace import (
    BaseWorkspaceRequestContext,
    IWorkspaceProcessContext,
)
from tidegate.scheduler.store.error import StoreError

SNAPSHOTS_KEPT = 1_000
"""Size of the cache of snapshots: programs of a loaded code location."""


class NotLoaded(Exception):
    """The workspace has no code location of the project, or one that does not know what is requested."""


def would_meet_every_launch(error: Exception) -> bool:
    """Return whether a failure is one of a location, a database or the disk, not of the launch itself."""
    return isinstance(
        error,
        NotLoaded
        | DagsterUserCodeUnreachableError
        | DagsterCodeLocationLoadError
        | StoreError
        | OperationalError
        | InterfaceError
        | OSError,
    )


class Runs:
    """Creates runs in the project's code location of a workspace."""

    def __init__(self, instance: DagsterInstance, workspace: IWorkspaceProcessContext, project: str) -> None:
        self._instance = instance
        self._project = project
        self._workspace = workspace
        self._snapshots: dict[object, tuple[RemoteJob, ExecutionPlanSnapshot]] = {}
        self._location: CodeLocation | None = None
        self._questions = Questions()
        self._loading = Loading(workspace)

    def problem(self) -> str:
        """Return why the workspace can make no run now; "" if it can.

        A location that is not loaded is loaded again, in a thread of its own: its server may hang.
        """
        context = self._workspace.create_request_context()
        try:
            self._find(context)
        except NotLoaded as error:
            entries = context.get_code_location_entries().items()
            self._loading.again([name for name, entry in entries if entry.code_location is None])
            return str(error)
        return ""

    def dispatcher_is_off(self) -> bool:
        """Return whether a person has switched off the sensor of the project's code location."""
        try:
            _, repository = self._find(self._workspace.create_request_context())
        except NotLoaded:
            return False
        sensor = repository.get_sensor(DISPATCHER)
        state = self._instance.get_instigator_state(sensor.get_remote_origin_id(), sensor.selector_id)
        return state is not None and state.status is InstigatorStatus.STOPPED

    def submit(self, request: RunRequest, tags: Mapping[str, str]) -> str | None:
        """Create and submit the run of a request.

        Args:
            request: with a run key.

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
        location, repository = self._find(context)
        job, plan = self._snapshot(location, repository, str(request.job_name), request.asset_selection)
        tags = {
            **job.run_tags,
            **request.tags,
            **tags,
            RUN_KEY_TAG: request.run_key or "",
            # Dagster's UI calls a run without it "Manually launched".
            **DagsterRun.tags_for_sensor(repository.get_sensor(DISPATCHER)),
        }
        selection = None if request.asset_selection is None else frozenset(request.asset_selection)
        new = NewRun(
            run_id=run_id, job=job, plan=plan, config=request.run_config, tags=tags, assets=selection
        )
        return create_run(self._instance, repository, new)

    def _find(self, context: BaseWorkspaceRequestContext) -> tuple[CodeLocation, RemoteRepository]:
        """Return the code location with the dispatcher of the project.

        Raises:
            NotLoaded: there is none; the message names the locations that are not loaded.
        """
        problems: list[str] = []
        for name, entry in context.get_code_location_entries().items():
            if entry.code_location is None:
                problems.append(not_loaded(name, entry.load_error))
                continue
            for repository in entry.code_location.get_repositories().values():
                if not repository.has_sensor(DISPATCHER):
                    continue
                if repository.get_sensor(DISPATCHER).tags.get(PROJECT, NO_PROJECT) == self._project:
                    return entry.code_location, repository
        nowhere = "no code location of the workspace has a dispatcher of the project"
        raise NotLoaded("; ".join(problems) or nowhere)

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
            self._snapshots[key] = self._questions.ask(
                location, key, lambda: snapshots(location, selector, {}, self._instance)
            )
        return self._snapshots[key]
