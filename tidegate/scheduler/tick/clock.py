"""The engine's clock, and the time of the last tick: whether ticks come as they should.

This is what commands read that only look, so it loads nothing of the tick itself.
"""

from datetime import datetime, timedelta

from tidegate.scheduler.store.engine_reader import EngineReader

CLOCK = "clock"
"""Name of the cursor that holds the engine's clock, in ISO 8601."""

TICKED = "ticked"
"""Name of the cursor with the time of the last tick: commands and reports of runs move the clock as well."""

AWAY_AFTER = timedelta(minutes=15)
"""After a longer pause the scheduler counts as having been away."""

CLOCK_KEPT_FOR = timedelta(seconds=60)
"""An idle tick writes nothing while the stored clock is younger: replaying idle time has no effect."""

AHEAD = timedelta(seconds=5)
"""By how much the clocks of two machines may differ before a tick counts as one of the future."""

TICKS_MISSED = 12
"""After so many ticks that did not come, something is wrong: a minute where one comes every five seconds."""


def is_late(last: datetime | None, now: datetime, every: int) -> bool:
    """Return whether the next tick should have come long ago.

    Args:
        last: the last tick; None if none ever came, which is late.
        every: the seconds between two ticks.
    """
    return last is None or now - last > CLOCK_KEPT_FOR + timedelta(seconds=TICKS_MISSED * every)


def is_ahead(last: datetime, now: datetime) -> bool:
    """Return whether the last tick is of the future: the clock of that machine, or of this one, is wrong."""
    return last > now + AHEAD


def engine_clock(reader: EngineReader) -> datetime | None:
    """Return the instant up to which the engine has done everything; None if it has never run."""
    stored = reader.cursor(CLOCK)
    return None if stored is None else datetime.fromisoformat(stored)


def last_tick(reader: EngineReader) -> datetime | None:
    """Return when a scheduler ticked last, to `CLOCK_KEPT_FOR`; None if none ever did."""
    stored = reader.cursor(TICKED)
    return None if stored is None else datetime.fromisoformat(stored)


def effective_at(reader: EngineReader, at: datetime, now: datetime) -> datetime:
    """Return the instant at which something that happened at `at` and is observed at `now` takes effect.

    That is `now` if the scheduler was away; else `at`, but not before the engine's clock.
    """
    clock = engine_clock(reader)
    if clock is None or abs(now - clock) > AWAY_AFTER:
        return now
    return max(clock, min(at, now))
