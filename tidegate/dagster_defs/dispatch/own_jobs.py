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
from tidegate.dagster_defs.existing.loaded import Target, targets
from tidegate.dagster_defs.existing.request import ExistingRequest, Impossible
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
        """Return what is in the way of the existing jobs of a plan, by app and program."""
        found: dict[str, dict[str, Obstacle]] = {app: {} for app, _ in plan.existing}
        for (app, name), program in plan.existing.items():
            if not self._can_create(program.job):
                found[app][name] = Obstacle(reason=Reason.W_HOST, text=NO_HOST)
        return found

    def submit(self, request: ExistingRequest) -> str | None:
        """Create and submit a run; return its id, or None if it was submitted before.

        Raises:
            LocationAway: this location does not have the job, or does not answer.
            Impossible: the job cannot have such a run.
            LookupError: the job does not have the partition yet.
        """
        context, origin = self._context, self._context.code_location_origin
        if origin is None or not self._can_create(request.job):
            raise LocationAway(NO_HOST)
        try:
            location = self._own.load(origin, context.instance)
            target = self._target(location, request.job)
            repository = RemoteRepositoryOrigin(origin, target.repository.name)
            return submit(context.instance, target, request, _ask, None, repository)
        except (DagsterUserCodeUnreachableError, DagsterCodeLocationLoadError) as error:
            text = f"the location {origin.location_name} does not answer its own dispatcher"
            raise LocationAway(text) from error

    def _can_create(self, wanted: ExistingJob) -> bool:
        context, origin = self._context, self._context.code_location_origin
        if origin is None or context.repository_def is None:
            return False
        if wanted.location not in ("", origin.location_name):
            return False
        is_queue = isinstance(context.instance.run_coordinator, QueuedRunCoordinator)
        return is_queue and context.repository_def.has_job(wanted.job)

    def _target(self, location: CodeLocation, wanted: ExistingJob) -> Target:
        found = targets(location, wanted)
        if len(found) != 1:
            wrong = f"the location {location.name} has {len(found)} jobs {wanted.job}, got a program of one"
            raise Impossible(wrong, "let one repository have it")
        return found[0]


def _ask(_key: object, question: Callable[[], Answers]) -> Answers:
    """Ask at once: the answer comes from the process of the sensor, or from that of its server."""
    return question()
