"""Missed: which fires of an absence still count (rules 9 and 19).

    on time                        ──► join as always
    missed, `catch_up: latest`     ──► the newest joins, if no later fire is on time
    missed, `catch_up: all`        ──► a job each, the oldest first: JOBS_PER_TICK now, the rest later
    all other ones                 ──► expired: one row for a cron and an absence

All of it is judged once, as of the return. An absence may be years long, so fires are counted by days, and
not listed before they are needed. Pure.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import WallClock
from tidegate.domain.time import fire_times
from tidegate.domain.time.fire_times import count_fires
from tidegate.domain.value import Value

MISSED_AFTER = timedelta(seconds=120)
"""A fire noticed within this time is on time: it covers the tick interval and a busy daemon."""

JOBS_PER_TICK = 1_000
"""The most jobs of missed fires of one cron that one tick makes: some seconds."""

CAUGHT_UP_MAX = 100_000
"""The most missed fires of one cron that get jobs: of every minute over ten weeks. Older ones expire."""

MICROSECOND = timedelta(microseconds=1)


class Span(Value, kw_only=True):
    """The fires of a cron in (after, until]."""

    after: datetime
    until: datetime


class Expired(Value, kw_only=True):
    """Missed fires that do not count any more; `why` is a line for people."""

    first: datetime
    last: datetime
    number: int
    why: str = ""


class Judged(Value, kw_only=True):
    """The due fires of a cron.

    Attributes:
        joining: they join a job as always.
        own: these get a job each.
    """

    joining: tuple[datetime, ...] = ()
    own: Span | None = None
    expired: Expired | None = None


def judge_fires(cron: WallClock, after: datetime, now: datetime) -> Judged:
    """Return what becomes of the fires of a cron in (after, now]."""
    # A fire was missed if it is older than that, so one that is exactly as old was not.
    missed_until = now - MISSED_AFTER - MICROSECOND
    on_time = tuple(fire_times.fires(cron, max(after, missed_until), now))
    last = fire_times.previous_fire(cron, missed_until) if after < missed_until else None
    if last is None or last <= after:
        return Judged(joining=on_time)
    oldest = after
    if cron.catch_up_at_most is not None:
        oldest = max(after, now - cron.catch_up_at_most - MICROSECOND)
    joining, own, why = on_time, None, ""
    match cron.catch_up:
        case "all" if last > oldest:
            end = _newest(cron, oldest, last)
            own = Span(after=end, until=last)
            why = "" if end == oldest else f"only the newest {CAUGHT_UP_MAX:,} missed fires get jobs"
        case "latest" if last > oldest and not on_time:
            joining, end = (last,), last - MICROSECOND
        case _:
            end = last
    return Judged(joining=joining, own=own, expired=_expired(cron, after, end, why))


def _newest(cron: WallClock, after: datetime, until: datetime) -> datetime:
    """Return the instant after which there are at most `CAUGHT_UP_MAX` fires: a bisection by seconds."""
    if count_fires(cron, after, until) <= CAUGHT_UP_MAX:
        return after
    low, high = 0, int((until - after).total_seconds())
    while low < high:
        middle = (low + high) // 2
        if count_fires(cron, after + timedelta(seconds=middle), until) <= CAUGHT_UP_MAX:
            high = middle
        else:
            low = middle + 1
    return after + timedelta(seconds=high)


def _expired(cron: WallClock, after: datetime, until: datetime, why: str) -> Expired | None:
    number = count_fires(cron, after, until)
    first = fire_times.next_fire(cron, after) if number else None
    last = fire_times.previous_fire(cron, until) if number else None
    if first is None or last is None:
        return None
    return Expired(first=first, last=last, number=number, why=why)
