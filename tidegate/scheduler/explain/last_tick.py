"""The last tick in the texts for people."""

from datetime import datetime, timedelta

from tidegate.domain.wording import plural
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.tick.on_time import is_ahead


def last_tick_line(ticked_at: datetime | None, now: datetime, late: bool) -> str:
    """Return when the scheduler ticked last.

    Args:
        ticked_at: as the store has it; None if it never ticked.
        late: the next tick should have come long ago.
    """
    if ticked_at is None:
        return "the scheduler has never ticked: start Dagster, for example with `tidegate dev`"
    ago = f", {minutes_ago(ticked_at, now)} ago" if late else ""
    if is_ahead(ticked_at, now):
        ago = f", {(ticked_at - now).total_seconds():,.0f} s in the future: a clock is wrong"
    return f"last tick of the scheduler: {instant_text(ticked_at)}{ago}"


def minutes_ago(last: datetime, now: datetime) -> str:
    """Return the time since an instant in minutes."""
    return plural((now - last) // timedelta(minutes=1), "minute")
