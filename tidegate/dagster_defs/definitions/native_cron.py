"""Which crons Dagster can show: those that its own iteration fires at the same instants as ours.

A Dagster schedule predicts its ticks from its pattern alone. It knows no business calendar, and
where the clocks are changed it differs for some patterns (docs/adr/0008). Such a schedule would
show its user ticks that do not come, so the dispatcher drives it alone (rule 22). We do
not guess where Dagster differs: for each coming change that touches a pattern we ask it.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import takewhile

# The iteration has no public name. That Dagster's minor version is pinned and the tests use it keeps it safe.
from dagster._utils.schedules import schedule_execution_time_iterator

from tidegate.domain.model import WallClock
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.cron import parse
from tidegate.scheduler.model.deployed import ScheduleState

LOOKED_AHEAD = timedelta(days=366)
"""A year has both changes of a zone's clocks; definitions are loaded anew more often than that."""

AROUND = timedelta(hours=26)
"""Before and after a change: a whole day of fires, and further than any zone moves its clocks."""

CACHED_COMPARISONS = 16_384
"""Patterns of the largest store we measure with, each in one zone and around one change."""

_RANGE_OF_ONE = re.compile(r"\b(\w+)-\1\b")
"""Dagster reads "4-4" as every value of the field."""


def native_cron(state: ScheduleState, now: datetime) -> WallClock | None:
    """The cron that is the schedule's whole trigger and that Dagster fires as we do, if there is one."""
    cron = state.spec.trigger.wall_clock
    if cron is None or cron.calendar is not None:
        return None
    return cron if agrees(cron.cron, cron.timezone, now) else None


def pattern_for_dagster(pattern: str) -> str:
    """A pattern as Dagster must be told it: as it was written, but for ranges of a single number."""
    return parse(pattern).expanded if _RANGE_OF_ONE.search(pattern) else pattern


def agrees(pattern: str, zone: str, now: datetime) -> bool:
    """Whether Dagster fires a pattern when we do, in the year that follows `now`."""
    cron = parse(pattern)
    if cron.hours_kind == "every":
        # Each real hour has its fire, which is Dagster's rule as it is ours.
        return True
    changes = clock_changes(zone, now, now + LOOKED_AHEAD)
    touched = (change.at for change in changes if any(cron.walls_between(*change.changed)))
    return all(_agrees_around(pattern, zone, at) for at in touched)


@lru_cache(maxsize=CACHED_COMPARISONS)
def _agrees_around(pattern: str, zone: str, change: datetime) -> bool:
    """Whether both fire at the same instants in the hours around a change of the clocks."""
    begin, end = change - AROUND, change + AROUND
    ours = parse(pattern).fires(begin - timedelta(microseconds=1), end, zone)
    theirs = schedule_execution_time_iterator(begin.timestamp(), pattern_for_dagster(pattern), zone)
    until = takewhile(lambda fire: fire <= end.timestamp(), (fire.timestamp() for fire in theirs))
    return [fire.timestamp() for fire in ours] == list(until)
