"""The engine's clock, which goes back only when the one on the wall was set back; and a broken promise."""

from datetime import datetime, timedelta

SET_BACK = timedelta(minutes=15)
"""A clock on the wall that is set back by more is believed."""


class Violation(AssertionError):
    """The engine broke a promise."""


class EngineClock:
    """The instants at which something was decided or done, in order."""

    def __init__(self) -> None:
        self._latest: datetime | None = None
        self._decided_at: datetime | None = None

    def saw(self, at: datetime) -> None:
        """Something was done at an instant; the clock on the wall may have been set back by far before it."""
        if self._latest is not None and self._latest - at > SET_BACK:
            self._latest, self._decided_at = at, None
        self._latest = max(at, self._latest or at)

    def decided(self, at: datetime) -> None:
        """A launch was decided as of an instant."""
        before, self._decided_at = self._decided_at or at, at
        assert at >= before, f"decided as of {at} after {before}"
