"""The schedules that are objects in Dagster, each with a switch.

sensor: own                            a sensor with a skip reason of its own
one cron that Dagster fires alike      a Dagster schedule with its next ticks
any other schedule                     none: `tidegate why` and the dispatcher's skip reason explain it

Dagster schedules for the schedules whose whole trigger is one cron that Dagster can show. They give such a
schedule a switch and its next ticks in the UI. The engine fires every cron itself, so they are parked
(`dispatch.parking`): Dagster does not evaluate them. A tick that comes before a new schedule is parked says
so, and opens no store. All target Dagster's job of all assets, since a job for each schedule would make
loading quadratic; where no program is ours, they target the job that finishes commits.

The crons that Dagster can show: those that Dagster fires at the same instants as the engine. A Dagster
schedule predicts its ticks from its pattern alone. It does not support business calendars, and at clock
changes it differs for some patterns (docs/adr/0008). Such a schedule would show ticks that never happen, so
only the dispatcher drives it (rule 22). The difference is measured, not assumed: each coming clock change
that affects a pattern is evaluated with Dagster's own iterator.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any

from dagster import (
    DefaultScheduleStatus,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SensorDefinition,
    SkipReason,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, RECOVERY, unique_names
from tidegate.dagster_defs.deployed.tags import APP, SCHEDULE
from tidegate.dagster_defs.dispatch.own_sensor import own_sensor
from tidegate.dagster_defs.dispatch.switch import Switched
from tidegate.dagster_defs.internals.cron import schedule_execution_time_iterator
from tidegate.dagster_defs.internals.instigators import InstigatorType
from tidegate.domain.model import WallClock
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.cron import parse
from tidegate.scheduler.model.deployed import ScheduleState

LOOKAHEAD = timedelta(days=366)
"""A year has both clock changes of a zone; definitions are reloaded more often than that."""

AROUND = timedelta(hours=26)
"""Before and after a change: a whole day of fires, and longer than any zone moves its clocks."""

CACHED_COMPARISONS = 16_384
"""Patterns of the largest benchmarked store, each in one zone and around one change."""

_RANGE_OF_ONE = re.compile(r"\b(\w+)-\1\b")
"""Dagster reads "4-4" as every value of the field."""


def native_cron(state: ScheduleState, now: datetime) -> WallClock | None:
    """Return the cron that is the schedule's whole trigger if Dagster fires it at the same instants."""
    cron = state.spec.trigger.wall_clock
    if cron is None or cron.calendar is not None:
        return None
    return cron if agrees(cron.cron, cron.timezone, now) else None


def pattern_for_dagster(pattern: str) -> str:
    """Return the pattern to pass to Dagster: unchanged, except for ranges of a single number."""
    return parse(pattern).expanded if _RANGE_OF_ONE.search(pattern) else pattern


def agrees(pattern: str, zone: str, now: datetime) -> bool:
    """Return whether Dagster and the engine fire a pattern at the same instants in the year after `now`."""
    cron = parse(pattern)
    if cron.read_otherwise:
        return False
    if cron.hours_kind == "every":
        # Both fire in each real hour.
        return True
    changes = clock_changes(zone, now, now + LOOKAHEAD)
    touched = (change.at for change in changes if any(cron.walls_between(*change.changed)))
    return all(_agrees_around(pattern, zone, at) for at in touched)


@lru_cache(maxsize=CACHED_COMPARISONS)
def _agrees_around(pattern: str, zone: str, change: datetime) -> bool:
    """Return whether both fire at the same instants in the hours around a clock change."""
    begin, end = change - AROUND, change + AROUND
    ours = parse(pattern).fires(begin - timedelta(microseconds=1), end, zone)
    theirs = schedule_execution_time_iterator(begin.timestamp(), pattern_for_dagster(pattern), zone)
    until = takewhile(lambda fire: fire <= end.timestamp(), (fire.timestamp() for fire in theirs))
    return [fire.timestamp() for fire in ours] == list(until)


FIRED_TEXT = "the engine fires {ref} itself, at {at} too: see `tidegate schedules show {ref}`"


def native_schedule(
    state: ScheduleState, cron: WallClock, name: str, target: str = ALL_ASSETS_JOB
) -> ScheduleDefinition:
    """Return the Dagster schedule of a schedule whose cron Dagster can show.

    Args:
        target: a job of the location; Dagster does not load one whose schedule has a job that is missing.
    """
    ref = state.ref

    def say(context: ScheduleEvaluationContext) -> SkipReason:
        at = context.scheduled_execution_time.astimezone(UTC)
        return SkipReason(FIRED_TEXT.format(ref=ref, at=f"{at:%Y-%m-%d %H:%M:%SZ}"))

    return ScheduleDefinition(name=name, job_name=target, execution_fn=say, **cron_facts(state, cron))


def cron_facts(state: ScheduleState, cron: WallClock) -> dict[str, Any]:
    """Return what Dagster shows of a schedule's cron: the arguments of its definition."""
    return {
        "cron_schedule": pattern_for_dagster(cron.cron),
        "execution_timezone": cron.timezone,
        "default_status": DefaultScheduleStatus.RUNNING if state.active else DefaultScheduleStatus.STOPPED,
        "description": state.spec.description or f"cron of {state.ref}",
        "tags": {APP: state.app, SCHEDULE: state.ref},
        "metadata": {"yaml": str(state.spec.at), "program": state.spec.program},
    }


class ShownSchedules:
    """The schedules of a code location that Dagster shows.

    Attributes:
        switched: their switches, by ref.
    """

    def __init__(self, states: Iterable[ScheduleState], now: datetime, prefix: str = "") -> None:
        """Args:
        prefix: how their names begin in Dagster.
        """
        crons = {state.ref: (state, _cron(state, now)) for state in states}
        self._states: Mapping[str, tuple[ScheduleState, WallClock | None]] = {
            ref: (state, cron)
            for ref, (state, cron) in crons.items()
            if cron is not None or state.spec.sensor == "own"
        }
        shown = [state for state, _ in self._states.values()]
        names = unique_names(((state.app, state.name) for state in shown), prefix)
        self.switched = {
            state.ref: _switched(state, names[state.app, state.name], cron)
            for state, cron in self._states.values()
        }

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The refs of the crons, by the names of their Dagster schedules."""
        crons = (ref for ref, (_, cron) in self._states.items() if cron is not None)
        return {self.switched[ref].name: ref for ref in crons}

    def schedules(self, plan: AssetPlan) -> Iterator[ScheduleDefinition]:
        """Yield the Dagster schedules."""
        for name in self.names:
            yield self.schedule(name, plan)

    def schedule(self, name: str, plan: AssetPlan) -> ScheduleDefinition:
        """Return the Dagster schedule of a name."""
        # Without a program of ours there may be no job of all assets.
        return native_schedule(*self._cron(name), name, ALL_ASSETS_JOB if plan.programs else RECOVERY)

    def facts(self, name: str) -> dict[str, Any]:
        """Return what Dagster shows of the Dagster schedule of a name."""
        return cron_facts(*self._cron(name))

    def _cron(self, name: str) -> tuple[ScheduleState, WallClock]:
        state, cron = self._states[self.names[name]]
        assert cron is not None, "those without one have no such name"
        return state, cron

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
