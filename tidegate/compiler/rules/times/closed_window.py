"""The rule for a window that stays closed for longer than the default timeout.

With `days` or a calendar a window is closed at least over the weekend, and a job that becomes ready on
Friday evening is discarded on Saturday (rule 5). The warning is given only with the default timeout: a
written timeout is deliberate.
"""

from datetime import timedelta

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Schedule, WindowConstraint
from tidegate.domain.time.calendar import DAY_NAMES

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def check_closed_window(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of windows that stay closed for longer than the default timeout."""
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
            f"without a `timeout` a job is discarded after 24h, got a window that stays closed for {hours}h",
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
        # It opens only on dates in the calendar's `open`.
        return len(DAY_NAMES) * DAY
    following = [*opens[1:], opens[0] + len(DAY_NAMES)]
    apart = max(after - before for before, after in zip(opens, following, strict=True))
    return apart * DAY - _length(window)


def _length(window: WindowConstraint) -> timedelta:
    """Return how long the window is open, on a day on which no clock changes."""
    minutes = (window.to.hour - window.from_.hour) * 60 + window.to.minute - window.from_.minute
    return timedelta(minutes=minutes) % DAY
