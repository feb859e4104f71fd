"""A window that stays closed for longer than the default timeout lets a job wait.

With `days` or a calendar a window is closed over a weekend at least, and what becomes ready on a
Friday evening is discarded on Saturday (rule 5), which nobody has asked for. Said only where
the timeout is the default one: who writes a timeout has decided.
"""

from datetime import timedelta

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.domain.model import Schedule, WindowConstraint
from tidegate.domain.time.calendar import DAY_NAMES

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def check_closed_window(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of windows that stay closed for longer than a timeout that nobody chose."""
    if schedule.timeout.at is not None:
        return
    for constraint in schedule.constraints:
        window = constraint.hours
        if window is None or constraint.otherwise == "skip":
            continue
        closed = longest_closed(window)
        if closed <= schedule.timeout.after:
            continue
        hours, days = -(-closed // HOUR), -(-closed // DAY)
        scope.findings.add(
            "L413",
            constraint.at if constraint.at is not None else place,
            "without a `timeout` a job waits 24h and is then discarded, got a window that stays closed for"
            f" {hours}h",
            f"write `timeout: {days}d` beside `constraints`, or `timeout: {{after: {days}d, then: run}}`",
        )


def longest_closed(window: WindowConstraint) -> timedelta:
    """Return the longest closed time of a window in a week without holidays."""
    weekend = () if window.calendar is None else window.calendar.weekend
    opens = [
        number
        for number, day in enumerate(DAY_NAMES)
        if day not in weekend and (not window.days or day in window.days)
    ]
    if not opens:
        # It opens on dates that the calendar names, and in no ordinary week.
        return len(DAY_NAMES) * DAY
    following = [*opens[1:], opens[0] + len(DAY_NAMES)]
    apart = max(after - before for before, after in zip(opens, following, strict=True))
    return apart * DAY - _length(window)


def _length(window: WindowConstraint) -> timedelta:
    """Return how long the window is open, on a day on which no clock changes."""
    minutes = (window.to.hour - window.from_.hour) * 60 + window.to.minute - window.from_.minute
    return timedelta(minutes=minutes) % DAY
