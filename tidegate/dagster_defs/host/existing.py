"""Existing jobs under a host: the locations of its workspace that have them, and what is in their way.

workspace ─► which location has the job ─┬─► obstacles, noted before a slot is taken (W-LOCATION)
                                         └─► its run is created and submitted (`existing.creation`)
"""

from dagster import DagsterInstance

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, Selected
from tidegate.dagster_defs.deployed.names import Owned
from tidegate.dagster_defs.existing.creation import LocationAway, not_loaded, submit
from tidegate.dagster_defs.existing.loaded import Target, nothing_selected, selected, targets
from tidegate.dagster_defs.existing.request import ExistingRequest, Impossible
from tidegate.dagster_defs.host.questions import Loading, Questions
from tidegate.dagster_defs.internals.errors import (
    DagsterCodeLocationLoadError,
    DagsterUserCodeUnreachableError,
)
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation
from tidegate.dagster_defs.internals.workspace import BaseWorkspaceRequestContext, IWorkspaceProcessContext
from tidegate.domain.model import ExistingJob
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.model.reason import Reason


class ExistingJobs:
    """Creates runs of the jobs of a workspace's locations."""

    def __init__(self, instance: DagsterInstance, workspace: IWorkspaceProcessContext) -> None:
        self._instance = instance
        self._workspace = workspace
        self._questions = Questions()
        self._loading = Loading(workspace)
        self._selected: dict[Owned, Selected] = {}
        self._unreachable: dict[str, tuple[CodeLocation, str]] = {}

    def obstacles(self, plan: AssetPlan) -> dict[str, dict[str, Obstacle]]:
        """Return what is in the way of the existing jobs of a plan, by app and program.

        A location that is not loaded, or whose server did not answer, is loaded again. What the programs
        with `assets` select is noted at the plan.
        """
        found: dict[str, dict[str, Obstacle]] = {app: {} for app, _ in plan.existing}
        if not found:
            return found
        context = self._workspace.create_request_context()
        for (app, name), program in plan.existing.items():
            try:
                target = self.find(context, program.job)
                if program.job.assets:
                    self._selected[app, name] = selected(target)
            except LocationAway as error:
                found[app][name] = Obstacle(reason=Reason.W_LOCATION, text=str(error))
            except Impossible:
                pass  # its launch is refused, with the message
        plan.selected.update(self._selected)
        self._loading.again([name for name in context.code_location_names if self._problem(context, name)])
        return found

    def locations(self) -> dict[str, str]:
        """Return why each location of the workspace is not loaded, by name; "" for one that is."""
        context = self._workspace.create_request_context()
        problems = {name: self._problem(context, name) for name in context.code_location_names}
        return {name: problem.removeprefix(f"{not_loaded(name)}: ") for name, problem in problems.items()}

    def find(self, context: BaseWorkspaceRequestContext, wanted: ExistingJob) -> Target:
        """Return the location and the repository that have a job.

        Raises:
            LocationAway: the location is not loaded, or one of those that may have the job.
            Impossible: no location has the job, or several have it.
        """
        names = [wanted.location] if wanted.location else list(context.code_location_names)
        problems = {name: self._problem(context, name) for name in names}
        found = [each for name in names if not problems[name] for each in _targets(context, name, wanted)]
        if len(found) > 1:
            places = " and ".join(each.location.name for each in found)
            raise Impossible(f"{places} have {wanted.title}", "write `location` in the program")
        if found:
            return found[0]
        away = [problem for problem in problems.values() if problem]
        if away:
            raise LocationAway("; ".join(away))
        where = f"the location {wanted.location}" if wanted.location else "any location of the workspace"
        if wanted.assets:
            raise nothing_selected(wanted.assets, where)
        where = where if wanted.location else "no location of the workspace"
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
        target = self.find(context, request.job)
        location = target.location
        try:
            return submit(
                self._instance,
                target,
                request,
                lambda key, question: self._questions.ask(location, key, question),
                context,
            )
        except (DagsterUserCodeUnreachableError, DagsterCodeLocationLoadError) as error:
            text = f"{not_loaded(location.name)}: its server does not answer"
            self._unreachable[location.name] = location, text
            raise LocationAway(text) from error

    def _problem(self, context: BaseWorkspaceRequestContext, name: str) -> str:
        """Return why a location cannot be used; "" if it can."""
        entry = context.get_code_location_entries().get(name)
        if entry is None:
            return f"{not_loaded(name)}: it is not in the workspace of the host"
        if entry.code_location is None:
            return not_loaded(name, entry.load_error)
        known = self._unreachable.get(name)
        if known is not None and known[0] is entry.code_location:
            return known[1]
        self._unreachable.pop(name, None)
        return ""


def _targets(context: BaseWorkspaceRequestContext, name: str, wanted: ExistingJob) -> list[Target]:
    entry = context.get_code_location_entries().get(name)
    return [] if entry is None or entry.code_location is None else targets(entry.code_location, wanted)
