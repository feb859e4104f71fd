"""The crons that Dagster can show: those that Dagster fires at the same instants as the engine.

A Dagster schedule predicts its ticks from its pattern alone. It does not support business
calendars, and at clock changes it differs for some patterns (docs/adr/0008). Such a schedule
would show ticks that never happen, so only the dispatcher drives it (rule 22). The difference
is measured, not assumed: each coming clock change that affects a pattern is evaluated with
Dagster's own iterator.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import takewhile

from tidegate.dagster_defs.internals.cron import schedule_execution_time_iterator
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
