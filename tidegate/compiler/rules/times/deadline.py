"""The rule that a deadline can be met: some window opens between a fire of the crons and the deadline.

The check is a proof over the minutes of a week in all years, for a schedule that only its crons start, whose
times are all of one zone. A duration is compared with an hour to spare, since clocks may change in between.
"""

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.rules.times.never_launched import crons_alone
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Deadline, Schedule
from tidegate.domain.time.week_minutes import (
    DAY,
    EVERY_MINUTE,
    WEEK,
    fire_minutes,
    later,
    window_minutes,
)

HOUR = 60


def check_deadline(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of a deadline that every job misses, since no window opens before it."""
    deadline = schedule.deadline
    windows = [c.hours for c in schedule.constraints if c.hours is not None]
    crons = crons_alone(schedule.trigger)
    if deadline is None or not windows or not crons or schedule.for_each or schedule.timeout.then == "run":
        return
    zones = {schedule.timezone, *(each.timezone for each in (*windows, *crons))}
    if deadline.after == "start" or len(zones) > 1:
        return
    open_ = EVERY_MINUTE
    for window in windows:
        open_ &= window_minutes(window)
    fires = 0
    for cron in crons:
        fires |= fire_minutes(cron)
    fired = (minute for minute in range(WEEK) if fires >> minute & 1)
    if any(later(open_, -fire) & ((1 << _left(deadline, fire)) - 1) for fire in fired):
        return
    spans = " and ".join(f"{window.from_:%H:%M} to {window.to:%H:%M}" for window in windows)
    named = f"{deadline.by:%H:%M}" if deadline.by is not None else ""
    if deadline.within is not None:
        named = duration_text(deadline.within)
    scope.findings.add(
        "L422",
        deadline.at or place,
        f"a window opens before the deadline, got {named} and the window {spans}, so every job is late",
        "write a later deadline, or open the window sooner",
    )


def _left(deadline: Deadline, fire: int) -> int:
    """Return the minutes from a fire to its deadline, at most a week."""
    if deadline.by is not None:
        return (deadline.by.hour * HOUR + deadline.by.minute - fire) % DAY
    seconds = 0.0 if deadline.within is None else deadline.within.total_seconds()
    return min(int(-(-seconds // 60)) + HOUR, WEEK)
