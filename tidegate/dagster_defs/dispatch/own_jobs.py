"""Existing jobs without a host: the dispatcher creates the runs of the jobs of its own code location.

    Dagster has a queue, and the location has the job? ──no──► W-HOST
         └──yes──► the location, as others load it ─► run created and submitted (`existing.creation`)

A sensor cannot choose the id of a run that it requests, and its run keys are unknown to a host; so its body
creates the run, under the id that a host would give it. The queue only notes the run. Dagster's daemon, which
has a workspace, launches it.
"""

from collections.abc import Callable

from dagster import DagsterInstance, QueuedRunCoordinator, SensorEvaluationContext

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.existing.creation import Answers, LocationAway, submit
from tidegate.dagster_defs.existing.loaded import Target, selected, targets
from tidegate.dagster_defs.existing.request import ExistingRequest
from tidegate.dagster_defs.internals.errors import (
    DagsterCodeLocationLoadError,
    DagsterUserCodeUnreachableError,
)
from tidegate.dagster_defs.internals.origins import (
    CodeLocationOrigin,
    InProcessCodeLocationOrigin,
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteRepositoryOrigin,
)
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation
from tidegate.domain.model import ExistingJob
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.model.reason import Reason

NO_HOST = "no host is active: tidegate host"


class NotHere(LocationAway):
    """Only a host can create the run."""


class OwnLocation:
    """The code location of this process, as others load it: once, since a process keeps its definitions."""

    def __init__(self) -> None:
        self._loaded: CodeLocation | None = None

    def load(self, origin: CodeLocationOrigin, instance: DagsterInstance) -> CodeLocation:
        """Load it from its own server, or where no address of one is known from the module."""
        if self._loaded is None:
            if isinstance(origin, ManagedGrpcPythonEnvCodeLocationOrigin):
                # Each process that uses such a location starts a server of its own.
                origin = InProcessCodeLocationOrigin(
                    origin.loadable_target_origin, location_name=origin.location_name
                )
            self._loaded = origin.create_location(instance)
        return self._loaded


class OwnJobs:
    """Creates runs of the jobs of the location in which a dispatcher is evaluated."""

    def __init__(self, context: SensorEvaluationContext, own: OwnLocation) -> None:
        self._context = context
        self._own = own

    def obstacles(self, plan: AssetPlan) -> dict[str, dict[str, Obstacle]]:
        """Return what is in the way of the existing jobs of a plan, by app and program.

        What the programs with `assets` select in this location is noted at the plan.
        """
        found: dict[str, dict[str, Obstacle]] = {app: {} for app, _ in plan.existing}
        for (app, name), program in plan.existing.items():
            try:
                target = self._target(program.job)
                if program.job.assets:
                    plan.selected[app, name] = selected(target)
            except NotHere as error:
                found[app][name] = Obstacle(reason=Reason.W_HOST, text=str(error))
            except LocationAway as error:
                found[app][name] = Obstacle(reason=Reason.W_LOCATION, text=str(error))
        return found

    def submit(self, request: ExistingRequest) -> str | None:
        """Create and submit a run; return its id, or None if it was submitted before.

        Raises:
            LocationAway: this location does not have the job, or does not answer.
            Impossible: the job cannot have such a run.
            LookupError: the job does not have the partition yet.
        """
        target, origin = self._target(request.job), self._context.code_location_origin
        assert origin is not None
        repository = RemoteRepositoryOrigin(origin, target.repository.name)
        try:
            return submit(self._context.instance, target, request, _ask, None, repository)
        except (DagsterUserCodeUnreachableError, DagsterCodeLocationLoadError) as error:
            raise _away(origin) from error

    def _target(self, wanted: ExistingJob) -> Target:
        """Return what a program launches, in this location.

        Raises:
            NotHere: it is not in this location, or Dagster has no queue.
            LocationAway: the location does not answer.
        """
        instance, origin = self._context.instance, self._context.code_location_origin
        if origin is None or wanted.location not in ("", origin.location_name):
            raise NotHere(NO_HOST)
        if not isinstance(instance.run_coordinator, QueuedRunCoordinator):
            raise NotHere(NO_HOST)
        try:
            found = targets(self._own.load(origin, instance), wanted)
        except (DagsterUserCodeUnreachableError, DagsterCodeLocationLoadError) as error:
            raise _away(origin) from error
        if len(found) != 1:
            raise NotHere(NO_HOST)
        return found[0]


def _away(origin: CodeLocationOrigin) -> LocationAway:
    return LocationAway(f"the location {origin.location_name} does not answer its own dispatcher")


def _ask(_key: object, question: Callable[[], Answers]) -> Answers:
    """Ask at once: the answer comes from the process of the sensor, or from that of its server."""
    return question()
