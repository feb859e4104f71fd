"""The schedules that are objects in Dagster, each with a switch.

sensor: own                            a sensor with a skip reason of its own
one cron that Dagster fires alike      a Dagster schedule with its next ticks
any other schedule                     none: `tidegate why` and the dispatcher's skip reason explain it

Dagster schedules for the schedules whose whole trigger is one cron that Dagster can show. They give such a
schedule a switch and its next ticks in the UI. The engine fires every cron itself, so they are parked
(`dispatch.parking`): Dagster does not evaluate them. A tick that comes before a new schedule is parked says
so, and opens no store. All target Dagster's job of all assets, since a job for each schedule would make
loading quadratic.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from dagster import (
    DefaultScheduleStatus,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SensorDefinition,
    SkipReason,
)

from tidegate.dagster_defs.definitions.native_cron import native_cron, pattern_for_dagster
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, unique_names
from tidegate.dagster_defs.deployed.tags import APP, SCHEDULE
from tidegate.dagster_defs.dispatch.own_sensor import own_sensor
from tidegate.dagster_defs.dispatch.switch import Switched
from tidegate.dagster_defs.internals.instigators import InstigatorType
from tidegate.domain.model import WallClock
from tidegate.scheduler.model.deployed import ScheduleState

FIRED_TEXT = "the engine fires {ref} itself, at {at} too: see `tidegate schedules show {ref}`"


def native_schedule(state: ScheduleState, cron: WallClock, name: str) -> ScheduleDefinition:
    """Return the Dagster schedule of a schedule whose cron Dagster can show."""
    ref = state.ref

    def say(context: ScheduleEvaluationContext) -> SkipReason:
        at = context.scheduled_execution_time.astimezone(UTC)
        return SkipReason(FIRED_TEXT.format(ref=ref, at=f"{at:%Y-%m-%d %H:%M:%SZ}"))

    return ScheduleDefinition(
        name=name,
        cron_schedule=pattern_for_dagster(cron.cron),
        execution_timezone=cron.timezone,
        job_name=ALL_ASSETS_JOB,
        execution_fn=say,
        default_status=DefaultScheduleStatus.RUNNING if state.active else DefaultScheduleStatus.STOPPED,
        description=state.spec.description or f"cron of {ref}",
        tags={APP: state.app, SCHEDULE: ref},
        metadata={"yaml": str(state.spec.at), "program": state.spec.program},
    )


class ShownSchedules:
    """The schedules of a code location that Dagster shows.

    Attributes:
        switched: their switches, by ref.
    """

    def __init__(self, states: Iterable[ScheduleState], now: datetime) -> None:
        crons = {state.ref: (state, _cron(state, now)) for state in states}
        self._states: Mapping[str, tuple[ScheduleState, WallClock | None]] = {
            ref: (state, cron)
            for ref, (state, cron) in crons.items()
            if cron is not None or state.spec.sensor == "own"
        }
        shown = [state for state, _ in self._states.values()]
        names = unique_names((state.app, state.name) for state in shown)
        self.switched = {
            state.ref: _switched(state, names[state.app, state.name], cron)
            for state, cron in self._states.values()
        }

    def schedules(self) -> Iterator[ScheduleDefinition]:
        """Yield the Dagster schedules."""
        for ref, (state, cron) in self._states.items():
            if cron is not None:
                yield native_schedule(state, cron, self.switched[ref].name)

    def sensors(self, plan: AssetPlan, location: Location) -> Iterator[SensorDefinition]:
        """Yield the sensors of schedules that have their own."""
        for ref, (state, cron) in self._states.items():
            if cron is None:
                yield own_sensor(state, self.switched[ref].name, plan, location)


def _cron(state: ScheduleState, now: datetime) -> WallClock | None:
    return None if state.spec.sensor == "own" else native_cron(state, now)


def _switched(state: ScheduleState, name: str, cron: WallClock | None) -> Switched:
    if cron is None:
        return Switched(name=name, type=InstigatorType.SENSOR, declared=state.status)
    pattern = pattern_for_dagster(cron.cron)
    return Switched(name=name, type=InstigatorType.SCHEDULE, declared=state.status, cron=pattern)
