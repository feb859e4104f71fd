"""The dispatcher: one sensor for each app, whose every tick drives the engine.

    switches ─► ingestion ─► reconciliation ─► tick ─► offers ─► run requests, or why there are none

Nothing that the sensor returns is taken as done: a job counts as launched when its run is
seen. So a tick that is lost, repeated, or still at work when the next one begins, harms
nothing; each step is its own transaction in the store. A step that fails is told and does not
stop the steps after it. "Preview tick result" in the UI runs the body too, and then changes
nothing.
"""

from collections.abc import Callable
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
from tidegate.dagster_defs.definitions.names import dispatcher_name
from tidegate.dagster_defs.definitions.plan_state import deployed_plan
from tidegate.dagster_defs.dispatch.pace import Pace
from tidegate.dagster_defs.dispatch.preview import PREVIEW_TEXT, is_real_tick
from tidegate.dagster_defs.dispatch.run_request import Invalid, run_request
from tidegate.dagster_defs.dispatch.skip_reason import WAITING_JOBS_TOLD, skip_reason
from tidegate.dagster_defs.dispatch.switch import sync_switches
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.ingest.reconcile import reconcile
from tidegate.dagster_defs.run.tags import APP
from tidegate.scheduler.decision.launch_check import check_launch
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches, reject
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

Native = dict[str, tuple[str, Status]]
"""The Dagster schedules of an app: name and declared status by ref."""


def dispatcher(app: str, plan: AssetPlan, native: Native, location: Location) -> SensorDefinition:
    """The dispatcher sensor of an app.

    Args:
        native: the app's schedules that have a switch in the UI.
    """
    pace = Pace()
    return SensorDefinition(
        name=dispatcher_name(app),
        # What the app's programs write; datasets from outside are in the group, but not in the selection.
        asset_selection=AssetSelection.groups(app),
        evaluation_fn=lambda context: Dispatch(context, app, plan, native, location, pace).run(),
        # The daemon looks every five seconds, a hair too early for an interval of just that. Dagster
        # reads 0 as not set, and would then wait 30 seconds.
        minimum_interval_seconds=max(location.dispatch_interval_seconds - 1, 1),
        default_status=DefaultSensorStatus.RUNNING,
        description=f"Takes in events, decides what may run, and launches the jobs of app {app}.",
        tags={APP: app},
    )


class Dispatch:
    """One evaluation of a dispatcher."""

    def __init__(
        self,
        context: SensorEvaluationContext,
        app: str,
        plan: AssetPlan,
        native: Native,
        location: Location,
        switch_pace: Pace,
    ) -> None:
        self._context = context
        self._app = app
        self._plan = plan
        self._native = native
        self._location = location
        self._switch_pace = switch_pace
        self._known = plan
        self._failures: list[Exception] = []

    def run(self) -> SensorResult | SkipReason:
        """Do the work of one tick.

        Raises:
            Exception: the first failure of a step, if there is nothing to launch; the tick is
                then shown as failed, and the next one tries again.
        """
        store = self._location.open_store()
        if not is_real_tick(self._context.log_key):
            return SkipReason(f"{PREVIEW_TEXT}; {self._waiting(store)}")
        for step in (self._know, self._switches, self._take_in, self._reconcile, self._tick):
            self._attempt(step, store)
        requests = self._requests(store)
        if requests:
            return SensorResult(run_requests=requests)
        if self._failures:
            raise self._failures[0]
        return SkipReason(self._waiting(store))

    def _attempt(self, step: Callable[[Store], None], store: Store) -> None:
        try:
            step(store)
        except Exception as error:  # noqa: BLE001 -- told, and the other steps run
            self._say(f"{step.__name__.strip('_')} failed: {type(error).__name__}: {error}")
            self._failures.append(error)

    def _know(self, store: Store) -> None:
        """What is deployed now. It may be more than what is loaded, and its events count from the start."""
        with store.reading() as reader:
            deployed = deployed_plan(reader)
        if deployed.revisions != self._plan.plan.revisions:
            self._known = AssetPlan(deployed)

    def _switches(self, store: Store) -> None:
        self._switch_pace.run(lambda: self._sync(store))

    def _sync(self, store: Store) -> None:
        origin = self._context.code_location_origin
        if not self._native or origin is None or self._context.repository_name is None:
            return
        sync_switches(
            self._context.instance,
            store,
            RemoteRepositoryOrigin(origin, self._context.repository_name),
            self._app,
            {ref: name for ref, (name, _) in self._native.items()},
            {ref: status for ref, (_, status) in self._native.items()},
            self._now(),
        )

    def _take_in(self, store: Store) -> None:
        ingest(self._context.instance, store, self._known, self._now(), self._say)

    def _reconcile(self, store: Store) -> None:
        reconcile(self._context.instance, store, self._known, self._now(), self._say)

    def _tick(self, store: Store) -> None:
        report = tick(store, self._now())
        for error in report.errors:
            self._say(error)

    def _requests(self, store: Store) -> list[RunRequest]:
        """The valid requests of the offers; an invalid one is counted against its own job only."""
        with store.transaction() as transaction:
            offered = offer_launches(transaction, self._now(), self._app)
        requests: list[RunRequest] = []
        for offer in offered:
            made = self._request(offer)
            if isinstance(made, RunRequest):
                requests.append(made)
                continue
            self._say(f"{offer.job} was not launched: {made.message}")
            with store.transaction() as transaction:
                reject(
                    transaction,
                    offer.job,
                    offer.attempt,
                    made.message,
                    self._now(),
                    final=self._final(made, offer),
                )
        return requests

    def _request(self, offer: LaunchRequest) -> RunRequest | Invalid:
        try:
            return run_request(offer, self._plan, self._now())
        except Exception as error:  # noqa: BLE001 -- a poisoned request may not block the others
            return Invalid(f"{type(error).__name__}: {error}")

    def _final(self, invalid: Invalid, offer: LaunchRequest) -> bool:
        """Whether what is loaded and what is deployed agree that the request can never be valid."""
        if not invalid.final or self._known is self._plan:
            return invalid.final
        program = self._known.programs.get((offer.app, offer.launch.program))
        ref = f"{offer.app}/{offer.launch.program}"
        wrong = check_launch(
            None if program is None else program.app, ref, offer.launch.partitions, self._now()
        )
        return wrong is not None and wrong.final

    def _waiting(self, store: Store) -> str:
        with store.reading() as reader:
            waiting = reader.jobs(app=self._app, states=WAITING, limit=WAITING_JOBS_TOLD + 1)
            deployed = next(iter(reader.apps(names=(self._app,))), None)
        text = skip_reason(waiting)
        if deployed is None:
            return f"app {self._app} is not deployed any more; reload the code location"
        if deployed.revision != self._plan.revision(self._app):
            text += "; a newer deployment is not loaded yet: reload the code location"
        return text

    def _now(self) -> datetime:
        return self._location.clock()

    def _say(self, text: str) -> None:
        self._context.log.warning(text)
