"""`window`: met while the local wall time is in [from, to).

The window wraps midnight when `to` is before `from`; `days` and `calendar` refer to the day on which
it opens (rule 6). Daylight saving needs no special rule: an instant is inside when the wall clock
shows a time inside (rule 22). So a window may open at a clock change, or twice in the night of the
repeated hour, and `opening` checks those instants too.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tidegate.domain.model import WindowConstraint
from tidegate.domain.time.calendar import opens_on
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.wall_clock import first_instant, instants, wall_time
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.verdict import Verdict

DAYS_AHEAD = 9
"""A week and its edges: every window without a calendar opens within these days, unless a clock change
swallows it."""

CALENDAR_DAYS_AHEAD = 366
"""With a calendar: holidays repeat every year, so a window that stays closed for a year hardly ever opens."""

ONE_DAY = timedelta(days=1)


def check(constraint: WindowConstraint, view: JobView, now: datetime) -> Verdict:
    span = f"{constraint.from_:%H:%M}-{constraint.to:%H:%M} {constraint.timezone}"
    if constraint.calendar is not None:
        span += f" on business days of {constraint.calendar.name}"
    if is_open(constraint, now):
        return Verdict(kind="window", met=True, summary=f"{span} is open")
    following = opening(constraint, now)
    return Verdict(
        kind="window",
        met=False,
        summary=f"{span} opens at {following.astimezone(ZoneInfo(constraint.timezone)).isoformat()}",
        next_check=following,
    )


def is_open(window: WindowConstraint, instant: datetime) -> bool:
    """Return whether the wall clock in the window's zone shows a time inside it."""
    return _opened_on(window, instant) is not None


def opening(window: WindowConstraint, after: datetime) -> datetime:
    """Return the first instant after `after` that is inside the window. Aware, UTC.

    Without one within the horizon it is the end of the horizon, when to check again.

    Args:
        after: an instant at which the window is closed.
    """
    ahead = DAYS_AHEAD if window.calendar is None else CALENDAR_DAYS_AHEAD
    first = wall_time(after, window.timezone).date() - ONE_DAY
    for number in range(ahead + 2):
        # Clocks that go back over midnight show the end of a day after the beginning of the next.
        days = (first + number * ONE_DAY, first + (number + 1) * ONE_DAY)
        found = [instant for day in days for instant in _openings(window, day, after)]
        if found:
            return min(found)
    return after + timedelta(days=ahead)


def _opened_on(window: WindowConstraint, instant: datetime) -> date | None:
    """Return the day of the window that an instant is inside; None if it is outside."""
    wall = wall_time(instant, window.timezone)
    at, day = wall.time(), wall.date()
    if window.from_ < window.to:
        inside = window.from_ <= at < window.to
    else:
        inside = at >= window.from_ or at < window.to
        day = day if at >= window.from_ else day - ONE_DAY
    return day if inside and opens_on(window, day) else None


def _openings(window: WindowConstraint, day: date, after: datetime) -> Iterator[datetime]:
    """Return the instants after `after` at which the window of a day opens, at `from` or a clock change."""
    if not opens_on(window, day):
        return
    candidates = set(instants(datetime.combine(day, window.from_), window.timezone))
    begin = first_instant(datetime.combine(day, time()), window.timezone)
    changes = clock_changes(window.timezone, begin - ONE_DAY, begin + 3 * ONE_DAY)
    candidates.update(change.at for change in changes)
    yield from (i for i in candidates if i > after and _opened_on(window, i) == day)
