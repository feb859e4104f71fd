"""Existing jobs: the locations of the workspace that have them, what is in their way, and their runs.

    workspace ─► which location has the job ─┬─► obstacles, noted before a slot is taken (W-LOCATION)
                                             └─► job, plan, config and partitions ─► create ─► submit

The run id is computed from job, attempt and lost starts, so a host that took over, or a dispatcher, creates
no second run. The user's own coordinator and launcher start the run.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dagster import DagsterInstance, DagsterRunStatus

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.host.questions import Loading, Questions, innermost
from tidegate.dagster_defs.host.runs import NewRun, create_run, run_id_of, snapshots
from tidegate.dagster_defs.internals.errors import (
    DagsterCodeLocationLoadError,
    DagsterUserCodeUnreachableError,
)
from tidegate.dagster_defs.internals.remote_jobs import (
    CodeLocation,
    ExecutionPlanSnapshot,
    JobSubsetSelector,
    PartitionExecutionErrorSnap,
    RemoteJob,
    RemoteRepository,
)
from tidegate.dagster_defs.internals.workspace import BaseWorkspaceRequestContext, IWorkspaceProcessContext
from tidegate.dagster_defs.run.existing_request import Cut, ExistingRequest, Impossible, partition_tags
from tidegate.domain.model import ExistingJob
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.model.reason import Reason


class LocationAway(Exception):
    """The location that has a job is not loaded."""


@dataclass(frozen=True, slots=True)
class Found:
    """A job in a loaded location."""

    location: CodeLocation
    repository: RemoteRepository
    job: str


class ExistingJobs:
    """Creates runs of the jobs of a workspace's locations."""

    def __init__(self, instance: DagsterInstance, workspace: IWorkspaceProcessContext) -> None:
        self._instance = instance
        self._workspace = workspace
        self._questions = Questions()
        self._loading = Loading(workspace)
        self._unreachable: dict[str, tuple[CodeLocation, str]] = {}

    def obstacles(self, plan: AssetPlan) -> dict[str, dict[str, Obstacle]]:
        """Return what is in the way of the existing jobs of a plan, by app and program.

        A location that is not loaded, or whose server did not answer, is loaded again.
        """
        found: dict[str, dict[str, Obstacle]] = {app: {} for app, _ in plan.existing}
        if not found:
            return found
        context = self._workspace.create_request_context()
        for (app, name), program in plan.existing.items():
            try:
                self.find(context, program.job)
            except LocationAway as error:
                found[app][name] = Obstacle(reason=Reason.W_LOCATION, text=str(error))
            except Impossible:
                pass  # its launch is refused, with the message
        self._loading.again([name for name in context.code_location_names if self._problem(context, name)])
        return found

    def find(self, context: BaseWorkspaceRequestContext, wanted: ExistingJob) -> Found:
        """Return the location and the repository that have a job.

        Raises:
            LocationAway: the location is not loaded, or one of those that may have the job.
            Impossible: no location has the job, or several have it.
        """
        names = [wanted.location] if wanted.location else list(context.code_location_names)
        problems = {name: self._problem(context, name) for name in names}
        found = [each for name in names if not problems[name] for each in _jobs_of(context, name, wanted.job)]
        if len(found) > 1:
            places = " and ".join(each.location.name for each in found)
            raise Impossible(f"{places} have a job {wanted.job}", "write `location` in the program")
        if found:
            return found[0]
        away = [problem for problem in problems.values() if problem]
        if away:
            raise LocationAway("; ".join(away))
        where = f"the location {wanted.location}" if wanted.location else "no location of the workspace"
        has = "has no" if wanted.location else "has a"
        raise Impossible(f"{where} {has} job {wanted.job}", "correct `job`, or add the job to the location")

    def submit(self, request: ExistingRequest) -> str | None:
        """Create and submit a run; return its id, or None if it was submitted before.

        Raises:
            LocationAway: the location is not loaded, or its server does not answer any more.
            Impossible: the job cannot have such a run.
            LookupError: the job does not have the partition yet.
            Unanswered: its code server has not answered in time.
        """
        context = self._workspace.create_request_context()
        found = self.find(context, request.job)
        run_id = run_id_of(request.launch.run_key)
        run = self._instance.get_run_by_id(run_id)
        if run is None:
            try:
                new = self._new_run(run_id, found, request)
            except (DagsterUserCodeUnreachableError, DagsterCodeLocationLoadError) as error:
                text = f"the location {found.location.name} is not loaded: its server does not answer"
                self._unreachable[found.location.name] = found.location, text
                raise LocationAway(text) from error
            run = create_run(self._instance, found.repository, new)
        if run is None or run.status is not DagsterRunStatus.NOT_STARTED:
            return None
        self._instance.submit_run(run_id, context)
        return run_id

    def _new_run(self, run_id: str, found: Found, request: ExistingRequest) -> NewRun:
        keys, job = request.launch.launch.partitions, request.job
        name = f"job {job.job} of {found.location.name}"
        partition = partition_tags(name, keys, cut_of(found), self._instance)
        config = request.launch.launch.config
        key = keys[0] if config is None and len(keys) == 1 and _configures_partitions(found) else None
        asked = job.job, run_id
        remote, plan, config = self._questions.ask(
            found.location, asked, lambda: self._answers(found, config or {}, key)
        )
        tags = {**remote.run_tags, **request.own_tags, **partition}
        return NewRun(run_id=run_id, job=remote, plan=plan, config=config, tags=tags)

    def _answers(
        self, found: Found, config: Mapping[str, object], key: str | None
    ) -> tuple[RemoteJob, ExecutionPlanSnapshot, Mapping[str, object]]:
        """Ask the server for the job, the plan of its run, and the config of a partition.

        Raises:
            Impossible: the code of the job cannot configure the partition.
        """
        location, repository = found.location, found.repository
        if key is not None:
            snap = location.get_partition_config(repository.handle, found.job, key, self._instance)
            if isinstance(snap, PartitionExecutionErrorSnap):
                why = "" if snap.error is None else f": {innermost(snap.error)}"
                raise Impossible(f"its code cannot configure the partition {key}{why}", "correct it there")
            config = snap.run_config
        selector = JobSubsetSelector(
            location_name=location.name,
            repository_name=repository.name,
            job_name=found.job,
            op_selection=None,
            asset_selection=None,
            asset_check_selection=None,
        )
        return *snapshots(location, selector, config, self._instance), config

    def _problem(self, context: BaseWorkspaceRequestContext, name: str) -> str:
        """Return why a location cannot be used; "" if it can."""
        entry = context.get_code_location_entries().get(name)
        if entry is None:
            return f"the location {name} is not loaded: it is not in the workspace of the host"
        if entry.code_location is None:
            why = "" if entry.load_error is None else f": {innermost(entry.load_error)}"
            return f"the location {name} is not loaded{why}"
        known = self._unreachable.get(name)
        if known is not None and known[0] is entry.code_location:
            return known[1]
        self._unreachable.pop(name, None)
        return ""


def _jobs_of(context: BaseWorkspaceRequestContext, name: str, job: str) -> list[Found]:
    entry = context.get_code_location_entries().get(name)
    if entry is None or entry.code_location is None:
        return []
    repositories = entry.code_location.get_repositories().values()
    return [Found(entry.code_location, each, job) for each in repositories if each.has_job(job)]


def cut_of(found: Found) -> Cut:
    """Return how the runs of a job are cut."""
    graph = found.repository.asset_graph
    assets = [graph.get(key) for key in found.repository.get_asset_keys_in_job(found.job)]
    cut = [each for each in assets if each.partitions_def is not None]
    sets = [each for each in found.repository.get_partition_sets() if each.job_name == found.job]
    definitions = [each.get_partitions_definition() for each in sets if each.has_partitions_definition()]
    definitions += [each.partitions_def for each in cut if each.partitions_def is not None]
    single = [
        each
        for each in cut
        if each.backfill_policy is not None and each.backfill_policy.max_partitions_per_run is None
    ]
    without = sorted(each.key.to_user_string() for each in cut if each not in single)
    return Cut(
        definition=definitions[0] if definitions else None,
        ranges=bool(cut) and not without,
        without_ranges=without,
    )


def _configures_partitions(found: Found) -> bool:
    return any(each.job_name == found.job for each in found.repository.get_partition_sets())
