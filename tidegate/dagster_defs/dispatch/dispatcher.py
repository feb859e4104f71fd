"""The dispatcher: one sensor for each app, whose ticks drive the engine.

    switches ─► dead, overdue, stopped runs ─► ingestion ─► reconciliation ─► tick ─► requests, or why not

Returning a run request does not launch a job: a job counts as launched when its run is
observed. So a tick that is lost, repeated, or overlaps the next one is harmless; each step is
its own transaction in the store. A step that fails is logged and does not stop the steps after
it. "Preview tick result" in the UI also runs the body, which then changes nothing.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime

from dagster import (
    AssetSelection,
    DefaultSensorStatus,
    RunRequest,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
)
from dagster._core.remote_origin import (
    RemoteRepositoryOrigin,
)  # names the switches of this code location

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.definitions.location import Location
from tidegate.dagster_defs.definitions.names import (
    ALL_ASSETS_JOB,
    MAINTENANCE,
    MEASURING,
    dispatcher_name,
)
from tidegate.dagster_defs.definitions.plan_state import deployed_plan
from tidegate.dagster_defs.dispatch.overdue import end_overdue
from tidegate.dagster_defs.dispatch.pace import Pace, Turns
from tidegate.dagster_defs.dispatch.preview import PREVIEW_TEXT, is_real_tick
from tidegate.dagster_defs.dispatch.rounds import Rounds
from tidegate.dagster_defs.dispatch.run_request import Invalid, run_request
from tidegate.dagster_defs.dispatch.skip_reason import WAITING_JOBS_MAX, skip_reason
from tidegate.dagster_defs.dispatch.stopped import end_stopped
from tidegate.dagster_defs.dispatch.switch import sync_switches
from tidegate.dagster_defs.dispatch.targets import sensor_of
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.ingest.reconcile import reconcile
from tidegate.dagster_defs.maintenance.measuring_request import measuring_request
from tidegate.dagster_defs.maintenance.operation_request import operation_request
from tidegate.dagster_defs.run.dead_runs import end_dead_runs
from tidegate.dagster_defs.run.tags import APP
from tidegate.scheduler.decision.launch.check import check_launch
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches, reject
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

Native = dict[str, tuple[str, Status]]
"""The Dagster schedules of an app: name and declared status by ref."""


DEAD_RUNS_SECONDS = 10
"""From one look for dead runs to the next, of all dispatchers of a process together. With a tick every five
seconds, a dead run of this machine is found within 15 s."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatcher:
    """The dispatcher of an app: what its evaluations have in common.

    Attributes:
        plan: the plan that this process has loaded.
        native: the app's schedules that have a switch in the UI.
        maintains: whether the app has policies, so that the sensor also starts the jobs of maintenance.
        looks: the looks for dead runs, shared by the dispatchers of a process.
        rounds: their ticks in an evaluation, also shared.
        switch_pace: how often the switches are compared.
    """

    app: str
    plan: AssetPlan
    native: Native
    location: Location
    looks: Turns
    rounds: Rounds
    maintains: bool = False
    switch_pace: Pace = field(default_factory=Pace)

    def sensor(self) -> SensorDefinition:
        """Return the sensor that Dagster evaluates."""
        return sensor_of(
            self.jobs,
            name=dispatcher_name(self.app),
            # The assets that the app's programs write; Dagster leaves external assets of the group out.
            asset_selection=None if self.maintains else AssetSelection.groups(self.app),
            evaluation_fn=lambda context: Dispatch(self, context).run(),
            # The daemon evaluates every five seconds, slightly too early for an interval of exactly five.
            # Dagster treats 0 as unset, which means 30 seconds.
            minimum_interval_seconds=max(self.location.dispatch_interval_seconds - 1, 1),
            default_status=DefaultSensorStatus.RUNNING,
            description="Ingests events, decides which jobs may run, and launches the jobs of app"
            f" {self.app}.",
            tags={APP: self.app},
        )

    @property
    def jobs(self) -> tuple[str, ...]:
        """The jobs that the sensor starts; none if it only materialises assets."""
        if not self.maintains:
            return ()
        has_programs = any(app == self.app for app, _ in self.plan.programs)
        return (*((ALL_ASSETS_JOB,) if has_programs else ()), MAINTENANCE, MEASURING)


class Dispatch:
    """One evaluation of a dispatcher."""

    def __init__(self, dispatcher: Dispatcher, context: SensorEvaluationContext) -> None:
        self._dispatcher = dispatcher
        self._context = context
        self._app = dispatcher.app
        self._plan = dispatcher.plan
        self._location = dispatcher.location
        self._deployed = dispatcher.plan
        self._failures: list[Exception] = []

    def run(self) -> SensorResult | SkipReason:
        """Run one tick, or several until there is something to launch.

        Raises:
            Exception: the first failure of a step, if there is nothing to launch; Dagster then
                shows the tick as failed, and the next tick tries again.
        """
        store = self._location.open_store()
        if not is_real_tick(self._context.log_key):
            return SkipReason(f"{PREVIEW_TEXT}; {self._waiting(store)}")
        with closing(self._dispatcher.rounds.ticks()) as ticks:
            for _ in ticks:
                requests = self._launches(store)
                if requests:
                    return SensorResult(run_requests=requests)
                if self._failures:
                    raise self._failures[0]
        return SkipReason(self._waiting(store))

    def _launches(self, store: Store) -> list[RunRequest]:
        for step in (
            self._load_deployed,
            self._switches,
            self._dead,
            self._overdue,
            self._stopped,
            self._ingest,
            self._reconcile,
            self._tick,
        ):
            self._attempt(step, store)
        return [*self._requests(store), *self._measuring(store)]

    def _attempt(self, step: Callable[[Store], None], store: Store) -> None:
        try:
            step(store)
        except Exception as error:  # noqa: BLE001 -- logged, and the other steps run
            self._log(f"{step.__name__.strip('_')} failed: {type(error).__name__}: {error}")
            self._failures.append(error)

    def _load_deployed(self, store: Store) -> None:
        """Load the deployed plan. It may be newer than the loaded one, and its events count at once."""
        with store.reading() as reader:
            deployed = deployed_plan(reader, self._location.project)
        if deployed.revisions != self._deployed.plan.revisions:
            self._deployed = AssetPlan(deployed)

    def _switches(self, store: Store) -> None:
        self._dispatcher.switch_pace.run(lambda: self._sync(store))

    def _sync(self, store: Store) -> None:
        origin = self._context.code_location_origin
        if not self._dispatcher.native or origin is None or self._context.repository_name is None:
            return
        sync_switches(
            self._context.instance,
            store,
            RemoteRepositoryOrigin(origin, self._context.repository_name),
            self._app,
            {ref: name for ref, (name, _) in self._dispatcher.native.items()},
            {ref: status for ref, (_, status) in self._dispatcher.native.items()},
            self._now(),
        )

    def _dead(self, store: Store) -> None:
        instance, now = self._context.instance, self._now()
        self._dispatcher.looks.run(
            lambda: end_dead_runs(instance, self._location, self._deployed, now, self._log)
        )

    def _overdue(self, store: Store) -> None:
        end_overdue(self._context.instance, store, self._deployed, self._app, self._now(), self._log)

    def _stopped(self, store: Store) -> None:
        end_stopped(self._context.instance, store, self._app, self._now(), self._log)

    def _ingest(self, store: Store) -> None:
        ingest(self._context.instance, store, self._deployed.everything, self._now(), self._log)

    def _reconcile(self, store: Store) -> None:
        reconcile(self._context.instance, store, self._deployed.everything, self._now(), self._log)

    def _tick(self, store: Store) -> None:
        report = tick(store, self._now())
        for error in report.errors:
            self._log(error)

    def _requests(self, store: Store) -> list[RunRequest]:
        """Return the valid run requests; an invalid one counts against its own job only."""
        with store.transaction() as transaction:
            offered = offer_launches(transaction, self._now(), self._app)
        requests: list[RunRequest] = []
        # Dagster takes its time for each: operations on tables come after what pipelines wait for.
        for launch in sorted(offered, key=lambda each: each.maintenance is not None):
            request = self._request(launch)
            if isinstance(request, RunRequest):
                requests.append(request)
                continue
            self._log(f"{launch.job} was not launched: {request.message}")
            with store.transaction() as transaction:
                reject(
                    transaction,
                    launch.job,
                    launch.attempt,
                    request.message,
                    self._now(),
                    final=self._final(request, launch),
                )
        return requests

    def _measuring(self, store: Store) -> list[RunRequest]:
        """Return the request of a measuring run, if the app has policies and one is due."""
        found: list[RunRequest] = []

        def measuring(store: Store) -> None:
            apps = [loaded.app for loaded in self._deployed.plan.apps]
            project, instance = self._location.project, self._context.instance
            request = measuring_request(instance, store, apps, project, self._now())
            if request is not None:
                found.append(request)

        if self._dispatcher.maintains:
            self._attempt(measuring, store)
        return found

    def _request(self, launch: LaunchRequest) -> RunRequest | Invalid:
        try:
            if launch.maintenance is not None:
                return operation_request(launch, launch.maintenance, loaded=self._dispatcher.maintains)
            return run_request(launch, self._plan, self._now())
        except Exception as error:  # noqa: BLE001 -- an invalid request must not block the others
            return Invalid(f"{type(error).__name__}: {error}")

    def _final(self, invalid: Invalid, launch: LaunchRequest) -> bool:
        """Return whether the request is permanently invalid in both the loaded and the deployed plan."""
        if not invalid.final or self._deployed is self._plan:
            return invalid.final
        program = self._deployed.programs.get((launch.app, launch.launch.program))
        ref = f"{launch.app}/{launch.launch.program}"
        wrong = check_launch(
            None if program is None else program.app, ref, launch.launch.partitions, self._now()
        )
        return wrong is not None and wrong.final

    def _waiting(self, store: Store) -> str:
        with store.reading() as reader:
            waiting = reader.jobs(app=self._app, states=WAITING, limit=WAITING_JOBS_MAX + 1)
            deployed = next(iter(reader.apps(names=(self._app,))), None)
        text = skip_reason(waiting)
        if deployed is None:
            return f"app {self._app} is not deployed; reload the code location"
        if deployed.revision != self._plan.revision(self._app):
            text += "; a newer deployment is not loaded: reload the code location"
        return text

    def _now(self) -> datetime:
        return self._location.clock()

    def _log(self, text: str) -> None:
        self._context.log.warning(text)
