"""When the scheduler ticked last, for `tidegate why` and `tidegate dev`, and whether that is too long ago."""

from datetime import datetime, timedelta

from tidegate.domain.wording import plural

TICKS_MISSED = 12
"""After so many ticks that did not come, something is wrong: a minute where one comes every five seconds."""

CHECK = "check the Dagster daemon, the code location and the dispatcher's switch"


def is_late(last: datetime, now: datetime, every: int) -> bool:
    """Whether the next tick should have come long ago.

    Args:
        every: the seconds between two ticks.
    """
    from tidegate.scheduler.tick.tick import CLOCK_KEPT_FOR

    return now - last > CLOCK_KEPT_FOR + timedelta(seconds=TICKS_MISSED * every)


def last_tick_line(ticked_at: datetime | None, now: datetime, every: int) -> str:
    """When the scheduler ticked last, and what to check when that is too long ago."""
    from tidegate.cli.printing import instant

    if ticked_at is None:
        return "the scheduler has never ticked: start Dagster, for example with `tidegate dev`"
    line = f"last tick of the scheduler: {instant(ticked_at)}"
    if not is_late(ticked_at, now, every):
        return line
    return f"{line}, {plural((now - ticked_at) // timedelta(minutes=1), 'minute')} ago: {CHECK}"


class TickWatch:
    """Watches that ticks come while Dagster runs; warns once, and again when they had come back."""

    def __init__(self, started: datetime, every: int) -> None:
        self._last = started
        self._every = every
        self._warned = False

    def look(self, ticked_at: datetime | None, now: datetime) -> str | None:
        """A warning, when none came for a while.

        Args:
            ticked_at: the scheduler's clock, as the store has it.
        """
        if ticked_at is not None:
            self._last = max(self._last, ticked_at)
        late = is_late(self._last, now, self._every)
        news = late != self._warned
        self._warned = late
        if not news:
            return None
        if not late:
            return "the scheduler ticks again"
        return f"warning: no tick for {plural((now - self._last) // timedelta(minutes=1), 'minute')}: {CHECK}"
