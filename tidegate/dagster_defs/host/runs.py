"""Runs that the host creates and submits itself, as Dagster's sensor daemon does for a run request.

    run id of (job, attempt) ─► job and plan snapshots (kept) ─► create ─┬──────────────────► submit
                                                                         └─exists, not submitted─┘

The run id is computed from the run key, so a second creation fails in the table of runs, whichever process
makes it. After a crash between creation and submission the next offer of the job submits the run.

What one loop launches is created together, and queued together where no place is free
(`coordinator.run_rows`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from dagster import (
    AssetKey,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogEntry,
    RunRequest,
    RunsFilter,
)
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator
from tidegate.dagster_defs.coordinator.run_rows import Noting, RunRows, writes_together
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.existing.creation import not_loaded
from tidegate.dagster_defs.existing.new_run import NewRun, create_run, note_run, run_id_of, snapshots
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
        self._created: dict[str, DagsterRun | Exception] = {}
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

    def create(
        self, requests: Sequence[tuple[RunRequest, Mapping[str, str]]], may: Callable[[], bool]
    ) -> None:
        """Create the runs of some requests together, where that is possible; `submit` them next.

        What is wrong with one of them is raised when it is submitted.

        Args:
            may: asked before each run is built, and before all are written: a hundred take so long on a busy
                machine that the lease of the host has to be renewed meanwhile.
        """
        self._created = {}
        self._created = self._by_sensors([request.run_key or "" for request, _ in requests])
        ours = [each for each in requests if run_id_of(each[0].run_key or "") not in self._created]
        coordinator = self._instance.run_coordinator
        if len(ours) < 2 or not isinstance(coordinator, LaunchingCoordinator):
            return
        if not writes_together(self._instance):
            return
        context = self._workspace.create_request_context()
        runs, planned = list[DagsterRun](), list[EventLogEntry]()
        for request, tags in ours:
            if not may():
                return
            try:
                noting = Noting(self._instance)
                note_run(noting, *self._new_run(request, tags, context))
                runs += noting.runs
                planned += noting.entries
            except Exception as error:  # noqa: BLE001 -- raised where the host handles it
                self._created[run_id_of(request.run_key or "")] = error
        if not may():
            return
        with suppress(IntegrityError):
            # Created by another host at this moment, they are found one by one.
            created = RunRows(self._instance).create(runs, planned)
            self._created |= {run.run_id: run for run in created}

    def _by_sensors(self, keys: Sequence[str]) -> dict[str, DagsterRun | Exception]:
        """Return the runs of some run keys that a dispatcher has requested, by the ids that ours would have.

        It was active while no host was, as during a loop that takes longer than the lease. Dagster gives its
        runs other ids, and a second run of the attempt would be created, to find it claimed and do nothing.
        """
        if not keys:
            return {}
        found = self._instance.get_runs(RunsFilter(tags={RUN_KEY_TAG: list(keys)}))
        # Of two, the one that was submitted.
        found = sorted(found, key=lambda run: run.status is not DagsterRunStatus.NOT_STARTED)
        return {run_id_of(run.tags[RUN_KEY_TAG]): run for run in found}

    def submit(self, request: RunRequest, tags: Mapping[str, str]) -> str | None:
        """Create and submit the run of a request.

        Args:
            request: with a run key.

        Returns:
            The run id; None if the run was submitted before.

        Raises:
            NotLoaded: the code location cannot make the run yet.
        """
        context = self._workspace.create_request_context()
        run = self._created.pop(run_id_of(request.run_key or ""), None)
        if isinstance(run, Exception):
            raise run
        if run is None:
            run = create_run(self._instance, *self._new_run(request, tags, context))
        elif run.status is DagsterRunStatus.NOT_STARTED and self._enqueue(run):
            return run.run_id
        if run is None or run.status is not DagsterRunStatus.NOT_STARTED:
            return None
        self._instance.submit_run(run.run_id, context)
        return run.run_id

    def _enqueue(self, run: DagsterRun) -> bool:
        """Put a run and all that were created after it into the queue, unless a place is free for it."""
        after = [each for each in self._created.values() if isinstance(each, DagsterRun)]
        new = [each for each in (run, *after) if each.status is DagsterRunStatus.NOT_STARTED]
        coordinator = self._instance.run_coordinator
        if not isinstance(coordinator, LaunchingCoordinator) or not coordinator.enqueue(new):
            return False
        queued = {each.run_id: each.with_status(DagsterRunStatus.QUEUED) for each in new}
        self._created |= queued
        return True

    def _new_run(
        self, request: RunRequest, tags: Mapping[str, str], context: BaseWorkspaceRequestContext
    ) -> tuple[RemoteRepository, NewRun]:
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
        return repository, NewRun(
            run_id=run_id_of(request.run_key or ""),
            job=job,
            plan=plan,
            config=request.run_config,
            tags=tags,
            assets=selection,
        )

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
