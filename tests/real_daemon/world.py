"""A world in which Dagster is real: what a scenario gives is done to Dagster, which then does the rest.

    a partition arrives      a materialisation is reported to the instance, at the scenario's time
    the scheduler works      one tick of the app's dispatcher, evaluated by the daemon in the code server
    a run begins             the run that the daemon has made is executed up to its program
    a run ends               its program ends, and Dagster writes the run's end
    an external run          a run of the program's assets without the tags of a job

Every run is also compared with what it was launched for: its partitions in Dagster, and what it has reported.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from dagster import AssetMaterialization, DagsterEventType, DagsterRun, RepositoryDefinition
from dagster._core.scheduler.instigation import TickStatus

from tests.real_daemon import scripted_time
from tests.real_daemon.gate import Order
from tests.real_daemon.location import location_of, repository_of
from tests.real_daemon.real_dagster import RealDagster
from tests.real_daemon.runs import LiveRun, new_run
from tidegate.compiler.scenarios.model.scenario import Behaviour, RunSeen, Scenario
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.plan_state import Plan, deployed_plan
from tidegate.dagster_defs.deployed.tags import (
    ATTEMPT,
    DAGSTER_PARTITION,
    DAGSTER_RANGE_END,
    DAGSTER_RANGE_START,
    JOB,
    PROGRAM,
)
from tidegate.dagster_defs.ingest.run_observations import STATUS_OF_RECORD
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.model.run import ENDED, RunStatus
from tidegate.scheduler.simulation.arrivals import Report
from tidegate.scheduler.simulation.launcher import SimulatedRun
from tidegate.scheduler.simulation.tables import SimulatedTables
from tidegate.scheduler.simulation.withheld import SimulatedPublishes
from tidegate.scheduler.simulation.world import Launches
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.programs.params import Params

BEFORE = timedelta(seconds=1)


class RealWorld:
    """The world of one case; see `tidegate.scheduler.simulation.world.World`.

    Attributes:
        tables: what is measured of tables; operations on them do not run here.
        publishes: of no use: no run of these scenarios ends `withheld`.
        launched: every run that was launched, with what its program was called with.
        faults: what Dagster has of a run and should not, or the other way round.
    """

    def __init__(self, dagster: RealDagster, app: str, store: SqlStore, scenario: Scenario) -> None:
        self.tables = SimulatedTables(store)
        self.publishes = SimulatedPublishes(store)
        self.launched: list[SimulatedRun] = []
        self.faults: list[str] = []
        self._dagster = dagster
        self._app = app
        self._store = store
        self._behaviours = scenario.behaviours
        self._by_hand = _by_hand(scenario)
        self._now = scenario.start
        self._location = location_of(dagster.place(app), store)
        self._repository: tuple[Plan, RepositoryDefinition] | None = None
        self._runs_of = Counter[str]()
        self._overdue = set[str]()
        self._ticks = 0
        self._lost = False
        self._failing: dict[str, int] = {}
        self._fresh: list[str] = []
        self._tried = False
        self._live: dict[str, LiveRun] = {}
        self._external: dict[str, LiveRun] = {}
        self._loaded = self._programs()
        # A daemon that is alive has ticked before the scenario begins; what is due at its start waits for it.
        self.tick((), scenario.start - BEFORE)

    # --- World ---

    def tick(self, reports: Sequence[Report], now: datetime) -> bool:
        """Report to Dagster, and let the daemon tick once."""
        for report in reports:
            self._report(report)
        self._now = now
        if not self._programs() <= self._loaded:
            self._dagster.reload()
            self._loaded = self._programs()
        self._ticks += 1
        lost, self._lost = self._lost, False
        order = Order(serial=self._ticks, now=now, lost=lost, failing=self._failing)
        found = self._dagster.tick(self._app, order)
        if found.status is TickStatus.FAILURE and not lost:
            raise AssertionError(f"{self._app}: tick {self._ticks} at {now} has failed: {found.error}")
        self._bury_overdue()
        self._fresh = list(found.run_ids)
        self._tried = lost or bool(self._fresh)
        return False

    def launch(self, now: datetime) -> Launches:
        """Execute the runs that the daemon has made, up to their programs."""
        begun = [self._begin(run_id, now) for run_id in self._fresh]
        runs = tuple(run for run in begun if run is not None)
        self.launched += runs
        return Launches(runs=runs, tried=self._tried)

    def start(self, run: SimulatedRun, now: datetime) -> Sequence[Report]:
        """Return nothing: Dagster has written the event."""
        return ()

    def end(self, run: SimulatedRun) -> Sequence[Report]:
        """Let the program of a run end; Dagster writes the event. The next tick ends an overdue run."""
        self._now = run.ends_at
        if run.run_id in self._overdue:
            return ()
        self._end(self._live.pop(run.run_id), run.ends, run.launch.partitions, died=run.died)
        return ()

    def fail_next(self, schedule: str, times: int) -> None:
        """Let the requests of a schedule fail in the dispatcher."""
        self._failing[schedule] = self._failing.get(schedule, 0) + times

    def restart(self) -> None:
        """Let the next tick die before the daemon has its requests."""
        self._lost = True

    # --- runs of jobs ---

    def _begin(self, run_id: str, now: datetime) -> SimulatedRun | None:
        run = self._dagster.instance.get_run_by_id(run_id)
        assert run is not None, f"the tick names run {run_id}, which does not exist"
        live = self._execute(run)
        params = live.params
        if params is None:
            return None
        program = run.tags[PROGRAM].partition("/")[2]
        behaviour = self._behaviours.get(program, Behaviour())
        end = behaviour.end_of(self._runs_of[program])
        self._runs_of[program] += 1
        limit, takes = live.assets.program.timeout, behaviour.takes
        if limit is not None and limit < takes:
            self._overdue.add(run_id)
            takes, end = limit, "failed"
        self._live[run_id] = live
        self._compare("was launched for", _partitions_of(run, params.partitions), params.partitions, run)
        return SimulatedRun(
            run_id=run_id,
            app=self._app,
            job=run.tags[JOB],
            attempt=int(run.tags[ATTEMPT]),
            launch=_launch_of(program, params, self._external),
            ends_at=now + takes,
            ends=RunStatus.FAILED if end == "died" else RunStatus(end),
            died=end == "died",
        )

    def _bury_overdue(self) -> None:
        """Let the threads end whose runs the dispatcher has ended, as a launcher ends their processes."""
        for run_id in sorted(self._overdue):
            run = self._dagster.instance.get_run_by_id(run_id)
            if run is not None and run.is_finished:
                self._overdue.remove(run_id)
                self._end(self._live.pop(run_id), RunStatus.FAILED, (), died=True)

    def _execute(self, run: DagsterRun) -> LiveRun:
        plan, repository = self._definitions()
        programs = AssetPlan(plan).program_of
        (assets,) = {programs[key].ref: programs[key] for key in run.asset_selection or ()}.values()
        live = LiveRun(self._dagster.instance, repository, run, assets, lambda: self._now)
        live.start()
        return live

    def _end(self, live: LiveRun, status: RunStatus, partitions: Sequence[str], died: bool = False) -> None:
        """End a run, and compare what Dagster has of it with what it was to write."""
        run = live.end(status, died)
        ended = STATUS_OF_RECORD.get(run.status)
        if ended is not status:
            self.faults.append(f"run {run.run_id} is {ended}, expected {status}")
        if live.assets.scheme is not None and not partitions:
            return  # an external run whose outputs the scenario does not name
        if status is RunStatus.SUCCEEDED:
            self._compare("wrote", _materialised(self._dagster, run), _outputs(live.assets, partitions), run)
        else:
            self._compare("wrote", _materialised(self._dagster, run), (), run)

    def _compare(self, what: str, found: Any, wanted: Any, run: DagsterRun) -> None:
        if set(found) != set(wanted):
            self.faults.append(
                f"run {run.run_id} of {run.tags.get(PROGRAM)} {what} {sorted(wanted)},"
                f" Dagster has {sorted(found)}"
            )

    def _definitions(self) -> tuple[Plan, RepositoryDefinition]:
        """What is deployed now, as a run's process would load it."""
        with self._store.reading() as reader:
            plan = deployed_plan(reader, self._location.project)
        if self._repository is None or self._repository[0].revisions != plan.revisions:
            self._repository = plan, repository_of(self._dagster.place(self._app), self._location)
        return self._repository

    def _programs(self) -> set[str]:
        """The deployed programs with what they write."""
        loaded = self._definitions()[0].apps
        return {f"{each.app.name}/{p.name} {p.writes}" for each in loaded for p in each.app.programs.values()}

    # --- what is reported from outside ---

    def _report(self, report: Report) -> None:
        if isinstance(report, RunObservation):
            self._now = report.at
            self._observe(report)
        elif isinstance(report, Event) and report.run_id is None:
            self._arrive(report)

    def _arrive(self, event: Event) -> None:
        app, _, dataset = event.key.partition(":")[2].partition("/")
        sizes = {"bytes": event.bytes, "rows": event.rows}
        arrival = AssetMaterialization(
            asset_key(app, dataset),
            partition=event.partition or None,
            metadata={name: value for name, value in sizes.items() if value is not None},
        )
        with scripted_time.scripted(lambda: event.time):
            self._dagster.instance.report_runless_asset_event(arrival)

    def _observe(self, seen: RunObservation) -> None:
        """Start an external run at its first report, and end it at the report of its end."""
        args, outputs = self._by_hand[seen.run_id]
        keys = tuple(sorted({key for found in outputs.values() for key in found}))
        if seen.run_id not in self._external:
            assets = AssetPlan(self._definitions()[0]).programs[_owned(seen.program)]
            with scripted_time.scripted(lambda: self._now):
                run = new_run(
                    self._dagster.instance,
                    self._definitions()[1],
                    assets.keys,
                    _tags_of(keys),
                    {"ops": {assets.op: {"config": {"args": args}}}} if args else {},
                )
            self._external[seen.run_id] = self._execute(run)
        live = self._external[seen.run_id]
        if seen.status in ENDED and not live.ended:
            self._end(live, seen.status, keys)


def _launch_of(program: str, params: Params, external: Mapping[str, LiveRun]) -> LaunchPlan:
    """What a program was called with, as the plan of a launch, with the names of external runs."""
    names = LaunchPlan.__struct_fields__
    found = {name: getattr(params, name) for name in names if hasattr(params, name)}
    plan = LaunchPlan(program=program, upstream_runs=tuple(run.id for run in params.upstream), **found)
    text = msgspec.json.encode(plan)
    for name, live in external.items():
        text = text.replace(live.run.run_id.encode(), name.encode())
    return msgspec.json.decode(text, type=LaunchPlan)


def _by_hand(scenario: Scenario) -> dict[str, tuple[dict[str, Any], dict[str, tuple[str, ...]]]]:
    """What is known of each external run: Dagster knows it from the start of the run."""
    found: dict[str, tuple[dict[str, Any], dict[str, tuple[str, ...]]]] = {}
    for given in scenario.given:
        if isinstance(given.action, RunSeen):
            args, outputs = found.get(given.action.id, ({}, {}))
            found[given.action.id] = {**args, **given.action.args}, {**outputs, **given.action.outputs}
    return found


def _owned(ref: str) -> tuple[str, str]:
    app, _, name = ref.partition("/")
    return app, name


def _tags_of(keys: tuple[str, ...]) -> dict[str, str]:
    """The tags with which the UI starts a run of partitions."""
    match keys:
        case ():
            return {}
        case (key,):
            return {DAGSTER_PARTITION: key}
        case _:
            return {DAGSTER_RANGE_START: keys[0], DAGSTER_RANGE_END: keys[-1]}


def _partitions_of(run: DagsterRun, wanted: Sequence[str]) -> Iterator[str]:
    """Yield the partitions of a run in Dagster; of a manifest with gaps it has the first key only."""
    if DAGSTER_RANGE_START in run.tags:
        first, last = run.tags[DAGSTER_RANGE_START], run.tags[DAGSTER_RANGE_END]
        yield from (key for key in wanted if first <= key <= last)
        yield from {first, last} - set(wanted)
    elif DAGSTER_PARTITION in run.tags:
        yield run.tags[DAGSTER_PARTITION]
        yield from wanted[1:]


def _outputs(assets: ProgramAssets, partitions: Sequence[str]) -> set[tuple[str, str]]:
    """What a run of these partitions has to report, as asset and partition."""
    found = {
        (asset_key(assets.app.name, name).to_user_string(), key)
        for name in assets.program.writes
        for key in (partitions if assets.app.datasets[name].partitions is not None else ("",))
    }
    own = (
        set()
        if assets.own_key is None
        else {(assets.own_key.to_user_string(), k) for k in partitions or ("",)}
    )
    return found | own


def _materialised(dagster: RealDagster, run: DagsterRun) -> set[tuple[str, str]]:
    """What a run has reported, as asset and partition."""
    entries = dagster.instance.all_logs(run.run_id, of_type=DagsterEventType.ASSET_MATERIALIZATION)
    found = [entry.asset_materialization for entry in entries]
    return {
        (each.asset_key.to_user_string(), str(each.partition or "")) for each in found if each is not None
    }
