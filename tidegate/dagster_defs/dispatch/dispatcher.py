"""The dispatcher: one sensor for all apps of a project, whose ticks drive the engine.

    a host is active? ──yes──► switches, and who it is
         └──no──► switches ─► the steps of a tick (`dispatch.steps`) ─► requests of runs, or why none

Returning a run request does not launch a job: a job counts as launched when its run is
observed. So a tick that is lost, repeated, or overlaps the next one is harmless.
"Preview tick result" in the UI also runs the body, which then changes nothing.

The distinction between a real tick and "Preview tick result" in the UI, which runs the same body. The
daemon's log key ends in the id of the tick; the log key of a preview ends in a time stamp with an
underscore; an evaluation in a test does not have a log key. Only a real tick may change state.

The targets of a dispatcher: assets, or jobs by name where its app has policies. A sensor with an asset
selection starts nothing but assets: Dagster gives each of its requests the job of all assets. A sensor with
several jobs must have their definitions, but the job of all assets is Dagster's own and has only a name
when the sensor is made. So such a sensor gets its targets by name, as one of one job does.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dagster import (
    AssetSelection,
    DefaultSensorStatus,
    RunRequest,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, DISPATCHER, MAINTENANCE, MEASURING
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.dispatch.own_jobs import OwnJobs, OwnLocation
from tidegate.dagster_defs.dispatch.pace import Pace, Rounds, Turns
from tidegate.dagster_defs.dispatch.skip_reason import skip_reason, waiting_jobs
from tidegate.dagster_defs.dispatch.steps import Shared, Steps
from tidegate.dagster_defs.dispatch.switch import Switched, sync_switches
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.sensor_target import AutomationTarget
from tidegate.dagster_defs.run.run_request import Invalid
from tidegate.scheduler.launch.active_host import ActiveHost, host_of
from tidegate.scheduler.launch.versions import CODE_SERVER, note_version
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.held_apps import held_apps
from tidegate.spark_jobs.commit.process import shown, this_process

PREVIEW_TEXT = "preview only, nothing was changed"


def is_real_tick(log_key: Sequence[str] | None) -> bool:
    """Return whether the daemon evaluates this tick and acts on its result."""
    return bool(log_key) and log_key is not None and log_key[-1].isdigit()


def sensor_of(jobs: Sequence[str], **settings: Any) -> SensorDefinition:
    """Return a sensor.

    Args:
        jobs: names of the jobs that it starts, of which each request names one; empty for a sensor that
            materialises assets.
    """
    made = SensorDefinition(**settings)
    if jobs:
        made._targets = [AutomationTarget(resolvable_to_job=name) for name in jobs]
    return made


def host_text(host: ActiveHost) -> str:
    """Return one line on the active host."""
    return f"the host drives the engine: {shown(host.process)}, since {host.since:%Y-%m-%d %H:%M:%SZ}"


RELOAD_TEXT = "a newer deployment is not loaded: reload the code location"


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatcher:
    """The dispatcher of a project: what its evaluations have in common.

    Attributes:
        plan: the plan that this process has loaded.
        switched: the schedules that have a switch in the UI, by ref.
        maintains: whether an app has policies, so that the sensor also starts the jobs of maintenance.
        own: this code location, for the jobs of it that are not ours.
        version_note: the note of this process's version, once.
    """

    plan: AssetPlan
    switched: Mapping[str, Switched]
    location: Location
    rounds: Rounds
    maintains: bool = False
    shared: Shared = field(default_factory=Shared)
    own: OwnLocation = field(default_factory=OwnLocation)
    switch_pace: Pace = field(default_factory=Pace)
    version_note: Turns = field(default_factory=lambda: Turns(math.inf))

    def sensor(self) -> SensorDefinition:
        """Return the sensor that Dagster evaluates."""
        project = self.location.project
        return sensor_of(
            self.jobs,
            name=DISPATCHER,
            asset_selection=self.written,
            evaluation_fn=lambda context: Dispatch(self, context).run(),
            # The daemon evaluates every five seconds, slightly too early for an interval of exactly five.
            # Dagster treats 0 as unset, which means 30 seconds.
            minimum_interval_seconds=max(self.location.dispatch_interval_seconds - 1, 1),
            default_status=DefaultSensorStatus.RUNNING,
            description="Ingests events, decides which jobs may run, and launches the jobs of all apps.",
            tags={PROJECT: project} if project else None,
        )

    @property
    def written(self) -> AssetSelection | None:
        """The assets that programs write; None where there are none, or the sensor has jobs as its target."""
        apps = sorted({app for app, _ in self.plan.programs})
        if self.maintains or not apps:
            return None
        if self.location.merged:
            # The groups may have assets of others.
            return AssetSelection.assets(*self.plan.program_of)
        # Dagster leaves external assets of the groups out.
        return AssetSelection.groups(*apps)

    @property
    def jobs(self) -> tuple[str, ...]:
        """The jobs that the sensor starts; none if it only materialises assets."""
        if not self.maintains:
            return ()
        return (*((ALL_ASSETS_JOB,) if self.plan.programs else ()), MAINTENANCE, MEASURING)


class Dispatch:
    """One evaluation of a dispatcher."""

    def __init__(self, dispatcher: Dispatcher, context: SensorEvaluationContext) -> None:
        self._dispatcher = dispatcher
        self._context = context
        self._plan = dispatcher.plan
        self._location = dispatcher.location
        self._own_jobs = OwnJobs(context, dispatcher.own)
        self._steps = Steps(
            self._location,
            context.instance,
            dispatcher.shared,
            self._log,
            obstacles=self._own_jobs.obstacles,
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
            self._steps.attempt(self._steps.load_deployed, store)
            return SkipReason(f"{PREVIEW_TEXT}; {self._waiting(store)}")
        self._dispatcher.version_note.run(lambda: self._note_version(store))
        host = self._host(store)
        if host is not None:
            self._steps.attempt(self._switches, store)
            self._steps.attempt(self._steps.load_deployed, store)
            return SkipReason(f"{host_text(host)}; {self._waiting(store)}")
        with closing(self._dispatcher.rounds.ticks()) as ticks:
            for _ in ticks:
                requests = self._launches(store)
                if requests:
                    return SensorResult(run_requests=requests)
                if self._steps.failures:
                    raise self._steps.failures[0]
        return SkipReason(self._waiting(store))

    def _note_version(self, store: Store) -> None:
        location = self._location
        note_version(store, location.project, CODE_SERVER, location.version, this_process(), self._now())

    def _host(self, store: Store) -> ActiveHost | None:
        """Return the host that drives the engine, also one by another clock: then this process does not."""
        now = self._now()
        with store.reading() as reader:
            found = host_of(reader, self._location.project)
        other_clock = self._dispatcher.shared.lookout.other_clock(found, now)
        if other_clock is not None:
            self._log(other_clock)
        return found if found is not None and (other_clock or found.holds(now)) else None

    def _launches(self, store: UpkeepStore) -> list[RunRequest]:
        self._steps.attempt(self._switches, store)
        self._steps.advance(store)
        requests = list(self._requests(store))
        measuring = self._steps.measuring(store) if self._dispatcher.maintains else None
        return requests if measuring is None else [*requests, measuring]

    def _requests(self, store: UpkeepStore) -> Iterator[RunRequest]:
        """Yield what Dagster is asked for; runs of existing jobs are created at once."""
        for launch, request in self._steps.launches(store):
            if isinstance(request, RunRequest):
                yield request
                continue
            try:
                self._steps.submit_existing(store, launch, request, self._own_jobs.submit)
            except Exception as error:  # noqa: BLE001 -- of this launch alone
                self._steps.reject(store, launch, Invalid(f"{type(error).__name__}: {error}"))

    def _switches(self, store: Store) -> None:
        self._dispatcher.switch_pace.run(lambda: self._sync(store))

    def _sync(self, store: Store) -> None:
        origin = self._context.code_location_origin
        if not self._dispatcher.switched or origin is None or self._context.repository_name is None:
            return
        sync_switches(
            self._context.instance,
            store,
            RemoteRepositoryOrigin(origin, self._context.repository_name),
            self._location.project,
            self._dispatcher.switched,
            self._now(),
        )

    def _waiting(self, store: Store) -> str:
        plan = self._plan.plan
        with store.reading() as reader:
            waiting = waiting_jobs(reader, plan.own if plan.others else None)
            held = sorted(held_apps(reader).keys() & plan.own)
        text = skip_reason(waiting)
        if held:
            text += f"; nothing is launched of {', '.join(held)}, on hold: see `tidegate apps list`"
        is_newer = self._steps.deployed.plan.own_revisions != plan.own_revisions
        return f"{text}; {RELOAD_TEXT}" if is_newer else text

    def _now(self) -> datetime:
        return self._location.clock()

    def _log(self, text: str) -> None:
        self._context.log.warning(text)
