"""The Dagster definitions of the deployed plan.

A code server builds them from the schedule store when it loads or reloads. A run's process
builds them from the plan that the code server shipped with the run: it does not open the
store, and it has no sensors or schedules because a run does not need them.

A code server asks for them twice: first it loads the module, then it reconstructs the
definitions as a run's process does. Building ten thousand assets takes seconds, so the second
pass gets what the first one has built.

What a code location shows while nothing is deployed: one sensor, whose ticks say what to do. Dagster shows
an empty location without a word. The sensor launches nothing. Once something is deployed, its ticks ask for
a reload, after which the dispatchers take its place.
"""

import gc
import warnings

import msgspec
from dagster import (
    BetaWarning,
    DefaultSensorStatus,
    Definitions,
    JobDefinition,
    SensorDefinition,
    SensorEvaluationContext,
    SkipReason,
    in_process_executor,
)

from tidegate.dagster_defs.definitions.asset_facts import Schedules, schedules_by_program
from tidegate.dagster_defs.definitions.assets import build_assets
from tidegate.dagster_defs.definitions.code_references import CodeReferences
from tidegate.dagster_defs.definitions.once import compute_once
from tidegate.dagster_defs.definitions.planned import Making, planned_definitions
from tidegate.dagster_defs.definitions.planned_answers import answer_of_plans
from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, RunScope, current_scope
from tidegate.dagster_defs.definitions.shown_schedules import ShownSchedules
from tidegate.dagster_defs.definitions.snapshot import Shown
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import NOTHING_DEPLOYED
from tidegate.dagster_defs.deployed.plan_state import (
    NOTHING_DEPLOYED_TEXT,
    Plan,
    deployed_plan,
    reconstructed_plan,
    ship,
)
from tidegate.dagster_defs.dispatch.dispatcher import Dispatcher
from tidegate.dagster_defs.dispatch.pace import Rounds
from tidegate.dagster_defs.maintenance.jobs import apps_with_policies, measuring_job, operation_job
from tidegate.dagster_defs.run.recovery import recovery_job, recovery_schedule, refs_of
from tidegate.domain.value import without_collection
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.store.error import StoreError, StoreMissing

RELOAD_TEXT = "something is deployed now: reload the code location"
LOOK_SECONDS = 30


def nothing_deployed(location: Location) -> SensorDefinition:
    """The sensor of a code location without apps."""

    def look(_context: SensorEvaluationContext) -> SkipReason:
        try:
            with location.open_store().reading() as reader:
                own = deployed_plan(reader, location.project).apps
            return SkipReason(RELOAD_TEXT if own else NOTHING_DEPLOYED_TEXT)
        except StoreMissing:
            return SkipReason(NOTHING_DEPLOYED_TEXT)

    return SensorDefinition(
        name=NOTHING_DEPLOYED,
        evaluation_fn=look,
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=DefaultSensorStatus.RUNNING,
        description=NOTHING_DEPLOYED_TEXT,
    )


MANY_PROGRAMS = 1_000

SELDOM = (100_000, 50, 100)
"""When garbage is collected in a code server with many programs. By Python's default of (700, 10, 10) a
quarter of a load goes into looking at the definitions again and again, also while Dagster makes its
repository of them."""

_built_here: dict[str, Definitions] = {}
"""The definitions that this process built of the store, by encoded plan; empty in a run's process."""


def build_definitions(location: Location, *, at_once: bool = False) -> Definitions:
    """Build the definitions of a project's code location.

    Args:
        at_once: make all of them now, also of a large location, as a person who validates them wants.
    """
    # The jobs of others in the same location may select any of our assets.
    scope = EVERYTHING if location.merged else current_scope()
    shipped = reconstructed_plan(scope.apps)
    if shipped is not None:
        # The plan is as large as the location, so a run of one program does not encode it.
        built = _built_here.get(ship(shipped)) if scope is EVERYTHING else None
        return built or _built(AssetPlan(shipped), location, scope)
    with without_collection():
        plan, states = _read(location)
        assets = AssetPlan(plan)
        # What follows concerns the whole process, which is not ours alone in a location of others.
        many = len(assets.programs) >= MANY_PROGRAMS and not location.merged
        if many:
            gc.set_threshold(*SELDOM)
            # What an earlier load in this process has built can be garbage by now.
            gc.unfreeze()
            # References to code are in beta; the snapshot has those of each asset, when it is asked for.
            warnings.filterwarnings("ignore", category=BetaWarning, message="Class `.*CodeReference")
        shipped = ship(assets.to_ship)
        making = _making(assets, states, location, shipped)
        # Dagster's answers are kept by what `compute_once` replaces, so ours come before.
        planned = many and not at_once and answer_of_plans()
        if many:
            compute_once()
        built = planned_definitions(making) if planned else making.everything
        _built_here.clear()
        _built_here[shipped] = built
        if many:
            gc.freeze()
    return built


def _making(assets: AssetPlan, states: tuple[ScheduleState, ...], location: Location, shipped: str) -> Making:
    """Return how the definitions of a code server are made."""
    crons, schedules = ShownSchedules(states, location.clock(), location.prefix), schedules_by_program(states)
    dispatcher = Dispatcher(
        plan=assets,
        switched=crons.switched,
        location=location,
        rounds=Rounds(location.dispatch_interval_seconds),
        maintains=bool(apps_with_policies(assets.plan)),
    )
    sensors = [dispatcher.sensor(), *crons.sensors(assets, location)]
    return Making(
        shown=Shown(
            plan=assets,
            location=location,
            schedules=schedules,
            crons=crons,
            places=CodeReferences(location.warehouse.project),
        ),
        assets=lambda scope: _assets(assets, location, scope, schedules),
        beside=Definitions(
            sensors=sensors if assets.plan.apps else [nothing_deployed(location)],
            schedules=[recovery_schedule(location)],
            jobs=_jobs(assets, location),
        ),
        shipped=shipped,
    )


def _built(assets: AssetPlan, location: Location, scope: RunScope) -> Definitions:
    """The definitions that a run needs."""
    found = _assets(assets, location, scope)
    # A run that materialises assets needs no other job.
    return found if scope.assets else Definitions.merge(found, Definitions(jobs=_jobs(assets, location)))


def _assets(
    assets: AssetPlan, location: Location, scope: RunScope, schedules: Schedules | None = None
) -> Definitions:
    with warnings.catch_warnings():
        # References to code are in beta; a Dagster that has others fails a test, and no user can do anything.
        warnings.simplefilter("ignore", BetaWarning)
        built = list(build_assets(assets, location, scope, schedules))
    # A run executes one program: a process for each step would load everything twice.
    return Definitions(assets=built, executor=None if location.merged else in_process_executor)


def _jobs(assets: AssetPlan, location: Location) -> list[JobDefinition]:
    """The jobs of a location: that of recovery, and where an app has policies those of maintenance."""
    maintenance = (
        (operation_job(location), measuring_job(location)) if apps_with_policies(assets.plan) else ()
    )
    return [recovery_job(refs_of(assets), location), *maintenance]


def _read(location: Location) -> tuple[Plan, tuple[ScheduleState, ...]]:
    """What is deployed: nothing, where there is no store yet.

    Raises:
        StoreError: the store cannot be read. What others have in the same location is loaded all the same:
            the sensor of a location without apps says what is wrong.
    """
    try:
        with location.open_store().reading() as reader:
            plan = msgspec.structs.replace(deployed_plan(reader, location.project), prefix=location.prefix)
            own = plan.own
            return plan, tuple(state for state in reader.schedules() if state.app in own)
    except StoreError as error:
        if not (location.merged or isinstance(error, StoreMissing)):
            raise
        return Plan(apps=()), ()
