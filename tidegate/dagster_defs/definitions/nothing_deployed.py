"""What a code location shows while nothing is deployed: one sensor, whose ticks say what to do.

Dagster shows an empty location without a word. The sensor launches nothing. Once something is
deployed, its ticks ask for a reload, after which the dispatchers take its place.
"""

from dagster import DefaultSensorStatus, SensorDefinition, SensorEvaluationContext, SkipReason

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import NOTHING_DEPLOYED
from tidegate.dagster_defs.deployed.plan_state import NOTHING_DEPLOYED_TEXT, deployed_plan
from tidegate.scheduler.store.error import StoreMissing

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
