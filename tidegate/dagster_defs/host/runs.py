"""Runs that the host creates and submits itself, as Dagster's sensor daemon does for a run request.

    run id of (job, attempt) ─► job and plan snapshots (kept) ─► create ─┬──────────────────► submit
                                                                         └─exists, not submitted─┘

The run id is computed from the run key, so a second creation fails in the table of runs, whichever process
makes it. After a crash between creation and submission the next offer of the job submits the run.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Thread
from uuid import UUID, uuid5

# What Dagster's sensor daemon uses for the same purpose (dagster/_daemon/sensor.py).
from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus, RunRequest
from sqlalchemy.exc import InterfaceError, OperationalError

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.internals.errors import (
    DagsterCodeLocationLoadError,
    DagsterRunAlreadyExists,
    DagsterUserCodeUnreachableError,
    SerializableErrorInfo,
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
    WorkspaceProcessContext,
)
from tidegate.scheduler.store.error import StoreError

RUN_IDS = UUID("6f0c1d4e-6d5b-5c39-9f0e-5a6d0c2f7b11")
"""The name space of run ids."""

ASKING_AT_ONCE = 8
"""Locations whose code servers may be asked at once; each gets one question at a time."""

LOAD_AGAIN_SECONDS = 2.0
"""From one try to load a location to the next."""

PROBLEM_CHARS = 300

SNAPSHOTS_KEPT = 1_000
"""Size of the cache of snapshots: programs of a loaded code location."""


ANSWER_SECONDS = 3.0
"""How long the host's thread waits for an answer of a code server, which may hang."""


class NotLoaded(Exception):
    """The workspace has no code location of the project, or one that does not know what is requested."""


class Unanswered(Exception):
    """A code server has not answered a question that one launch needs."""


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
        self._asking = ThreadPoolExecutor(ASKING_AT_ONCE, thread_name_prefix="code server")
        self._questions: dict[str, tuple[object, Future[tuple[RemoteJob, ExecutionPlanSnapshot]]]] = {}
        self._loading: Thread | None = None

    def problem(self) -> str:
        """Return why the workspace can make no run now; "" if it can.

        A location that is not loaded is loaded again, in a thread of its own: its server may hang.
        """
        context = self._workspace.create_request_context()
        try:
            self._find(context)
        except NotLoaded as error:
            self._load_again(context)
            return str(error)
        return ""

    def _load_again(self, context: BaseWorkspaceRequestContext) -> None:
        if self._loading is not None and self._loading.is_alive():
            return
        entries = context.get_code_location_entries().items()
        names = [name for name, entry in entries if entry.code_location is None]
        self._loading = Thread(target=self._load, args=(names,), name="loading", daemon=True)
        self._loading.start()

    def _load(self, names: Sequence[str]) -> None:
        if isinstance(self._workspace, WorkspaceProcessContext):
            for name in names:
                self._workspace.refresh_code_location(name)
        time.sleep(LOAD_AGAIN_SECONDS)

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
        selection = None if request.asset_selection is None else frozenset(request.asset_selection)
        try:
            return self._instance.create_run(
                job_name=job.name,
                run_id=run_id,
                run_config=request.run_config,
                status=DagsterRunStatus.NOT_STARTED,
                tags={
                    **job.run_tags,
                    **request.tags,
                    **tags,
                    RUN_KEY_TAG: request.run_key or "",
                    # Dagster's UI calls a run without it "Manually launched".
                    **DagsterRun.tags_for_sensor(repository.get_sensor(DISPATCHER)),
                },
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

    def _find(self, context: BaseWorkspaceRequestContext) -> tuple[CodeLocation, RemoteRepository]:
        """Return the code location with the dispatcher of the project.

        Raises:
            NotLoaded: there is none; the message names the locations that are not loaded.
        """
        problems: list[str] = []
        for name, entry in context.get_code_location_entries().items():
            if entry.code_location is None:
                why = "" if entry.load_error is None else f": {_first_line(entry.load_error)}"
                problems.append(f"the location {name} is not loaded{why}")
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
            self._snapshots[key] = self._answer(location, key, selector)
        return self._snapshots[key]

    def _answer(
        self, location: CodeLocation, key: object, selector: JobSubsetSelector
    ) -> tuple[RemoteJob, ExecutionPlanSnapshot]:
        """Ask a code server in another thread; one that hangs delays no other launch.

        Raises:
            Unanswered: it has not answered this question, or one before.
        """

        def ask() -> tuple[RemoteJob, ExecutionPlanSnapshot]:
            job = location.get_job(selector)
            plan = location.get_execution_plan(
                job, {}, step_keys_to_execute=None, known_state=None, instance=self._instance
            )
            return job, plan.execution_plan_snapshot

        asked = self._questions.get(location.name)
        if asked is not None and asked[0] != (location, key):
            if not asked[1].done():
                raise Unanswered(f"the code server of {location.name} has not answered a question before")
            asked = None
        if asked is None:
            asked = self._questions[location.name] = (location, key), self._asking.submit(ask)
        try:
            found = asked[1].result(ANSWER_SECONDS)
        except FutureTimeout as error:
            if asked[1].done():
                raise
            text = f"the code server of {location.name} has not answered within {ANSWER_SECONDS:.0f} s"
            raise Unanswered(text) from error
        finally:
            if asked[1].done():
                self._questions.pop(location.name, None)
        return found


def _first_line(error: SerializableErrorInfo) -> str:
    """Return the innermost cause, in one line."""
    while error.cause is not None:
        error = error.cause
    return " ".join(error.message.split())[:PROBLEM_CHARS]
