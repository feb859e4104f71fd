"""The Dagster definitions of what is deployed in the schedule store.

A code server builds them from the store, once, when it loads or reloads. A run's process
builds them from what the code server shipped with the run: the store is not touched, and
there are no sensors or schedules, which a run has no use for.
"""

from dagster import Definitions, in_process_executor

from dagster_defs.asset_plan import AssetPlan
from dagster_defs.assets import build_assets
from dagster_defs.dispatcher import Native, dispatcher
from dagster_defs.location import Location
from dagster_defs.native_schedule import native_names, native_schedules
from dagster_defs.plan_state import LoadedApp, Plan, reconstructed_plan, ship
from scheduler.deployed import ScheduleState


def build_definitions(location: Location) -> Definitions:
    """The definitions of a project's code location."""
    shipped = reconstructed_plan()
    if shipped is not None:
        return _with_assets(AssetPlan(shipped), location)
    with location.open_store().reading() as reader:
        plan = Plan(apps=tuple(LoadedApp(app=row.app, revision=row.revision) for row in reader.apps()))
        states = reader.schedules()
    assets = AssetPlan(plan)
    return Definitions.merge(_with_assets(assets, location), _automation(assets, states, location))


def _with_assets(plan: AssetPlan, location: Location) -> Definitions:
    ship(plan.plan)
    return Definitions(
        assets=list(build_assets(plan, location)),
        # One run is one program: a process for each step would load everything twice.
        executor=in_process_executor,
    )


def _automation(plan: AssetPlan, states: tuple[ScheduleState, ...], location: Location) -> Definitions:
    names = native_names(states)
    apps = sorted({assets.app.name for assets in plan.programs.values()})
    native: dict[str, Native] = {app: {} for app in apps}
    for state in states:
        if state.ref in names and state.app in native:
            native[state.app][state.ref] = (names[state.ref], state.status)
    return Definitions(
        sensors=[dispatcher(app, plan, native[app], location) for app in apps],
        schedules=list(native_schedules((s for s in states if s.app in native), location)),
    )
