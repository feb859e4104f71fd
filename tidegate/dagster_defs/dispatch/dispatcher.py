"""The dispatcher: one sensor for each app, whose ticks drive the engine.

    a host is active? ──yes──► switches, and who it is
         └──no──► switches ─► the steps of a tick (`dispatch.steps`) ─► requests of runs, or why none

Returning a run request does not launch a job: a job counts as launched when its run is
observed. So a tick that is lost, repeated, or overlaps the next one is harmless.
"Preview tick result" in the UI also runs the body, which then changes nothing.
"""

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
from tidegate.dagster_defs.dispatch.pace import Pace, Turns
from tidegate.dagster_defs.dispatch.preview import PREVIEW_TEXT, is_real_tick
from tidegate.dagster_defs.dispatch.rounds import Rounds
from tidegate.dagster_defs.dispatch.skip_reason import WAITING_JOBS_MAX, skip_reason
from tidegate.dagster_defs.dispatch.steps import Steps
from tidegate.dagster_defs.dispatch.switch import sync_switches
from tidegate.dagster_defs.dispatch.targets import sensor_of
from tidegate.dagster_defs.host.text import host_text
from tidegate.dagster_defs.run.tags import APP
from tidegate.scheduler.launch.active_host import ActiveHost, active_host
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.store.protocol import Store

Native = dict[str, tuple[str, Status]]
"""The Dagster schedules of an app: name and declared status by ref."""


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
        self._steps = Steps(
            self._location,
            context.instance,
            dispatcher.looks,
            self._log,
            only=self._app,
            loaded=self._plan,
            maintains=dispatcher.maintains,
        )

    def run(self) -> SensorResult | SkipReason:
        """Run one tick, or several until there is something to launch.

        Raises:
            Exception: the first failure of a step, if there is nothing to launch; Dagster then
                shows the tick as failed, and the next tick tries again.
        """
        store = self._location.open_store()
        if not is_real_tick(self._context.log_key):
            return SkipReason(f"{PREVIEW_TEXT}; {self._waiting(store)}")
        host = self._host(store)
        if host is not None:
            self._steps.attempt(self._switches, store)
            return SkipReason(f"{host_text(host)}; {self._waiting(store)}")
        with closing(self._dispatcher.rounds.ticks()) as ticks:
            for _ in ticks:
                requests = self._launches(store)
                if requests:
                    return SensorResult(run_requests=requests)
                if self._steps.failures:
                    raise self._steps.failures[0]
        return SkipReason(self._waiting(store))

    def _host(self, store: Store) -> ActiveHost | None:
        with store.reading() as reader:
            return active_host(reader, self._location.project, self._now())

    def _launches(self, store: Store) -> list[RunRequest]:
        self._steps.attempt(self._switches, store)
        self._steps.advance(store)
        requests = [request for _, request in self._steps.launches(store)]
        measuring = self._steps.measuring(store) if self._dispatcher.maintains else None
        return requests if measuring is None else [*requests, measuring]

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
