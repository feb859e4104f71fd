"""The steps that drive the engine: the same in a tick of a sensor and in a loop of the host.

    what a tick has left ─► dead, overdue, stopped runs ─► watched folders ─► owed reports ─► ingestion
        ─► reconciliation ─► places ─► tick ─► alerts ─► pruning ─► requests

Each step is its own transaction in the store. A step that fails is logged and does not stop the steps after
it.

Stopped: runs whose job has gone on without them are cancelled in Dagster. These are the runs of instances
that were paused or are run again, and of operations on tables whose timeout is over.
`scheduler.launch.stopped` says which, and when. A queued run is taken from the queue; one that works is
interrupted by its launcher. A run that does not end although it was asked `FORCED_AT` times is marked as
cancelled: its process may be gone, or hang, and it can publish nothing any more.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from dagster import DagsterInstance, RunRequest

from tidegate.dagster_defs.coordinator.coordinator import places_of
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.plan_state import Plan, deployed_plan
from tidegate.dagster_defs.dispatch.alarms import Alarms
from tidegate.dagster_defs.dispatch.overdue import end_overdue
from tidegate.dagster_defs.dispatch.pace import Pace, Turns
from tidegate.dagster_defs.existing.creation import LocationAway
from tidegate.dagster_defs.existing.request import ExistingRequest, Impossible
from tidegate.dagster_defs.ingest.intake import Log, ingest
from tidegate.dagster_defs.ingest.owed_reports import send_owed_reports
from tidegate.dagster_defs.ingest.reconcile import reconcile
from tidegate.dagster_defs.ingest.run_observations import dagster_run_id
from tidegate.dagster_defs.maintenance.requests import measuring_request, operation_request
from tidegate.dagster_defs.run.dead_runs import end_dead_runs
from tidegate.dagster_defs.run.run_request import Invalid, run_request
from tidegate.scheduler.decision.launch.check import check_launch
from tidegate.scheduler.intake.watched import Watched
from tidegate.scheduler.launch.active_host import Lookout
from tidegate.scheduler.launch.obstacles import note_obstacles
from tidegate.scheduler.launch.outbox import OFFERS_PER_TICK, LaunchRequest, offer_launches, postpone, reject
from tidegate.scheduler.launch.stopped import Stop, note_stops, stops_due
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.retention.prune import prune_slice
from tidegate.scheduler.store.engine_reader import revisions_of_apps
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.held_apps import held_apps
from tidegate.scheduler.tick.places import note_places, noted_places
from tidegate.scheduler.tick.tick import GoesOn, always, go_on, tick
from tidegate.watcher.watching import Watching, watched_of

FORCED_AT = 3
"""With the pauses of `scheduler.launch.stopped`, 45 s after it was asked for the first time."""


def end_stopped(
    instance: DagsterInstance, store: Store, apps: Collection[str], now: datetime, log: Log
) -> None:
    """Cancel the active runs of some apps whose job has gone on without them."""
    with store.reading() as reader:
        if not stops_due(reader, apps, now):
            return
    with store.transaction() as transaction:
        stops = note_stops(transaction, apps, now)
    for stop in stops:
        _cancel(instance, stop, log)


def _cancel(instance: DagsterInstance, stop: Stop, log: Log) -> None:
    run_id, job = dagster_run_id(stop.run.run_id), stop.job
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return
    text = f"{job.schedule} {job.key} was paused or is run again: attempt {stop.run.attempt} is over"
    if job.maintenance is not None:
        text = f"{job.key}: {job.detail}"
    log(f"run {run_id} is cancelled: {text}")
    try:
        instance.run_coordinator.cancel_run(run_id)
    except Exception as error:  # noqa: BLE001 -- it is asked again, and marked in the end
        log(f"run {run_id} could not be cancelled: {type(error).__name__}: {error}")
    again = instance.get_run_by_id(run_id)
    if again is not None and not again.is_finished and stop.tries >= FORCED_AT:
        instance.report_run_canceled(again, text)


T = TypeVar("T")

Obstacles = Callable[[AssetPlan], Mapping[str, Mapping[str, Obstacle]]]

DEAD_RUNS_SECONDS = 4
"""From one look for dead runs to the next, of all ticks of a process together. A host finds a dead run of
this machine within 5 s, a sensor, which ticks every five seconds, within 10 s."""

ASKED_AGAIN = timedelta(seconds=10)
"""After a code server has not answered what one launch needs, or the location of an existing job is away."""

PLACES_SECONDS = 1
"""From one count of the runs in progress to the next, as often as a host renews its lease."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What the ticks of a process have in common.

    Attributes:
        places: the counts of Dagster's places.
        pruning: the share of time that pruning takes.
        lookout: what was seen of a host whose clock is ahead.
    """

    looks: Turns = field(default_factory=lambda: Turns(DEAD_RUNS_SECONDS))
    places: Turns = field(default_factory=lambda: Turns(PLACES_SECONDS))
    pruning: Pace = field(default_factory=Pace)
    watching: Watching = field(default_factory=Watching)
    alerts: Alarms = field(default_factory=Alarms)
    lookout: Lookout = field(default_factory=Lookout)


class Steps:
    """The steps of one tick or loop.

    Attributes:
        deployed: the plan that is deployed now; it may be newer than the loaded one, and its events count.
        failures: the errors of failed steps, in order.
    """

    def __init__(
        self,
        location: Location,
        instance: DagsterInstance,
        shared: Shared,
        log: Log,
        *,
        obstacles: Obstacles,
        loaded: AssetPlan | None = None,
        maintains: bool = True,
        goes_on: GoesOn = always,
    ) -> None:
        """Args:
        shared: the same for all ticks of a process.
        obstacles: what is in the way of the existing jobs of a plan, by app and program.
        loaded: the plan by which runs are requested; default: what is deployed.
        maintains: whether operations on tables can be requested.
        goes_on: whether a step goes on in a further transaction.
        """
        self.deployed = loaded or AssetPlan(Plan(apps=()))
        self._watched: tuple[AssetPlan, list[Watched]] | None = None
        self.failures: list[Exception] = []
        self._written = set[str]()
        self._location = location
        self._loaded = loaded
        self._instance = instance
        self._shared = shared
        self._log = log
        self._maintains = maintains
        self._find_obstacles = obstacles
        self._goes_on = goes_on

    @property
    def apps(self) -> frozenset[str]:
        """The project's own apps that are deployed now, and loaded if runs are requested by a loaded plan."""
        deployed = frozenset(loaded.app.name for loaded in self.deployed.plan.apps)
        return deployed if self._loaded is None else deployed & self._loaded.plan.own

    def advance(self, store: UpkeepStore) -> None:
        """Take in what has happened, and decide."""
        for step in (
            self._left_by_a_tick,
            self.load_deployed,
            self._obstacles,
            self._dead,
            self._overdue,
            self._stopped,
            self._watch,
            self._owed,
            self._ingest,
            self._reconcile,
            self._places,
            self._tick,
            self._alerts,
            self._prune,
        ):
            self.attempt(step, store)

    def attempt(self, step: Callable[[UpkeepStore], T], store: UpkeepStore) -> T | None:
        """Run a step and return its result; after a failure, note it and return None."""
        try:
            return step(store)
        except Exception as error:  # noqa: BLE001 -- logged, and the other steps run
            self._log(f"{step.__name__.strip('_')} failed: {type(error).__name__}: {error}")
            self.failures.append(error)
            return None

    def launches(
        self, store: Store, limit: int = OFFERS_PER_TICK
    ) -> Iterator[tuple[LaunchRequest, RunRequest | ExistingRequest]]:
        """Offer what is to be launched, and yield it with its run request; nothing of an app on hold.

        An invalid request counts against its own job only. Operations on tables come after what pipelines
        wait for: Dagster takes its time for each run.
        """
        with store.transaction() as transaction:
            apps = self.apps - held_apps(transaction).keys()
            offered = offer_launches(transaction, self._now(), apps, limit)
        for launch in sorted(offered, key=lambda each: each.maintenance is not None):
            request = self._request(launch)
            if isinstance(request, Invalid):
                self.reject(store, launch, request)
            else:
                yield launch, request

    def reject(self, store: Store, launch: LaunchRequest, invalid: Invalid) -> None:
        """Note that a launch could not be requested."""
        self._log(f"{launch.job} was not launched: {invalid.message}")
        final = self._final(invalid, launch)
        with store.transaction() as transaction:
            reject(transaction, launch.job, launch.attempt, invalid.message, self._now(), final=final)

    def measuring(self, store: UpkeepStore) -> RunRequest | None:
        """Return the request of a measuring run, if one is due."""
        return self.attempt(self._measuring, store)

    # --- the steps ----------------------------------------------------------------------

    def load_deployed(self, store: UpkeepStore) -> None:
        """Read what is deployed, if it has changed."""
        with store.reading() as reader:
            if revisions_of_apps(reader) == self.deployed.plan.revisions:
                return
            deployed = deployed_plan(reader, self._location.project)
        self.deployed = AssetPlan(deployed)

    def _obstacles(self, store: Store) -> None:
        if self.deployed.existing:
            own = self._find_obstacles(self.deployed)
            note_obstacles(store, {app: own[app] for app in own.keys() & self.apps}, self._now())

    def _dead(self, store: Store) -> None:
        now = self._now()
        self._shared.looks.run(
            lambda: end_dead_runs(self._instance, self._location, self.deployed, now, self._log)
        )

    def _overdue(self, store: Store) -> None:
        end_overdue(self._instance, store, self.deployed, self.apps, self._now(), self._log)

    def _stopped(self, store: Store) -> None:
        end_stopped(self._instance, store, self.apps, self._now(), self._log)

    def _watch(self, store: Store) -> None:
        site, deployed = self._location.site, self.deployed
        if self._watched is None or self._watched[0] is not deployed:
            # Once for each deployment: a host loops several times a second over thousands of datasets.
            self._watched = deployed, watched_of(site, [loaded.app for loaded in deployed.plan.apps])
        self._shared.watching.poke(store, site, self._watched[1], self._log)

    def _owed(self, store: UpkeepStore) -> None:
        send_owed_reports(self._instance, store, self._location.project, self._goes_on, self._written)

    def _ingest(self, store: Store) -> None:
        plan, now = self.deployed.everything, self._now()
        ingest(self._instance, store, plan, now, self._log, self._goes_on, self._written)

    def _reconcile(self, store: Store) -> None:
        reconcile(self._instance, store, self.deployed.everything, self._now(), self._log)

    def _places(self, store: UpkeepStore) -> None:
        """Note what Dagster allows and what is in progress there, if that has changed."""
        self._shared.places.run(lambda: self._note_places(store))

    def _note_places(self, store: UpkeepStore) -> None:
        project, found = self._location.project, places_of(self._instance)
        with store.reading() as reader:
            if noted_places(reader, project) == found:
                return
        with store.transaction() as transaction:
            note_places(transaction, project, found)

    def _tick(self, store: Store) -> None:
        for error in tick(store, self._now(), self._goes_on).errors:
            self._log(error)

    def _left_by_a_tick(self, store: Store) -> None:
        """Finish a tick that a crash has cut, before an observation does it in one transaction."""
        for error in go_on(store, self._goes_on).errors:
            self._log(error)

    def _alerts(self, store: Store) -> None:
        self._shared.alerts.run(self._location, self._now(), self._log)

    def _prune(self, store: UpkeepStore) -> None:
        self._shared.pruning.run(lambda: prune_slice(store, self._location.retention, self._now()))

    def _measuring(self, store: UpkeepStore) -> RunRequest | None:
        apps = [loaded.app for loaded in self.deployed.plan.apps]
        return measuring_request(self._instance, store, apps, self._location.project, self._now())

    def postpone(self, store: Store, launch: LaunchRequest, problem: str, pause: timedelta) -> None:
        """Postpone one launch: its offer does not count, and it holds no slot meanwhile."""
        now, jobs = self._now(), (launch.job,)
        with store.transaction() as transaction:
            postpone(transaction, (launch.app,), problem, now, offered=jobs, only=jobs, pause=pause)
        self._log(f"{launch.job} is not launched yet: {problem}")

    def submit_existing(
        self,
        store: Store,
        launch: LaunchRequest,
        request: ExistingRequest,
        submit: Callable[[ExistingRequest], object],
    ) -> None:
        """Create and submit the run of an existing job, or note why that is not possible now, or ever."""
        try:
            submit(request)
        except LocationAway as error:
            self.postpone(store, launch, str(error), ASKED_AGAIN)
        except Impossible as error:
            self.reject(store, launch, Invalid(str(error), final=True))
        except LookupError as error:
            # Dagster uses its own clock: a period may begin later there.
            self.reject(store, launch, Invalid(str(error)))

    def _request(self, launch: LaunchRequest) -> RunRequest | ExistingRequest | Invalid:
        try:
            if launch.maintenance is not None:
                return operation_request(launch, launch.maintenance, loaded=self._maintains)
            return run_request(launch, self._loaded or self.deployed, self._now())
        except Exception as error:  # noqa: BLE001 -- an invalid request must not block the others
            return Invalid(f"{type(error).__name__}: {error}")

    def _final(self, invalid: Invalid, launch: LaunchRequest) -> bool:
        """Return whether the request is permanently invalid in both the loaded and the deployed plan."""
        if not invalid.final or self._loaded in (None, self.deployed):
            return invalid.final
        owned = (launch.app, launch.launch.program)
        program = self.deployed.programs.get(owned) or self.deployed.existing.get(owned)
        ref = f"{launch.app}/{launch.launch.program}"
        wrong = check_launch(
            None if program is None else program.app, ref, launch.launch.partitions, self._now()
        )
        return wrong is not None and wrong.final

    def _now(self) -> datetime:
        return self._location.clock()
