"""`window`: holds while the local wall time is in [from, to).

The window wraps midnight when `to` is the earlier one, and `days` name the day on which it
opens (DESIGN rule 6). Daylight saving needs no rule of its own: an instant is inside when the
wall clock shows a time inside (rule 22). So a window may open at a change of the clocks, or
twice in the night of the doubled hour, and `opening` looks at those instants as well.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from compiler.model import Day, WindowConstraint
from scheduler.slice import Slice
from scheduler.verdict import Verdict

DAYS_AHEAD = 9
"""A week and its edges: every window opens within these days, unless a clock change swallows it."""

DAY_NAMES: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def check(constraint: WindowConstraint, part: Slice, now: datetime) -> Verdict:
    """See `scheduler.constraints`."""
    span = f"{constraint.from_:%H:%M}-{constraint.to:%H:%M} {constraint.timezone}"
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
    """Whether the wall clock in the window's zone shows a time inside it."""
    local = instant.astimezone(ZoneInfo(window.timezone))
    wall, opened = local.time(), local.date()
    if window.from_ < window.to:
        inside = window.from_ <= wall < window.to
    else:
        inside = wall >= window.from_ or wall < window.to
        if wall < window.to:
            opened -= timedelta(days=1)
    return inside and (not window.days or DAY_NAMES[opened.weekday()] in window.days)


def opening(window: WindowConstraint, after: datetime) -> datetime:
    """The first instant after `after`, at which the window is closed, that is inside. Aware, UTC."""
    zone = ZoneInfo(window.timezone)
    first = after.astimezone(zone).date() - timedelta(days=1)
    for ahead in range(DAYS_AHEAD + 2):
        for instant in sorted(_candidates(window.from_, first + timedelta(days=ahead), zone)):
            if instant > after and is_open(window, instant):
                return instant
    # Only a clock change can swallow a week of openings; look again when the horizon has passed.
    return after + timedelta(days=DAYS_AHEAD)


def _candidates(opens: time, day: date, zone: ZoneInfo) -> Iterator[datetime]:
    """The instants of a local day at which a window may open: its wall time, and a change of the clocks."""
    for fold in (0, 1):
        yield datetime.combine(day, opens, zone).replace(fold=fold).astimezone(UTC)
    start = datetime.combine(day, time(0), zone).astimezone(UTC)
    end = datetime.combine(day + timedelta(days=1), time(0), zone).astimezone(UTC)
    offset = start.astimezone(zone).utcoffset()
    if offset == end.astimezone(zone).utcoffset():
        return
    low, high = start, end
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    yield high
