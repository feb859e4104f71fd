"""The rate limit: how many requests a caller may make a minute.

A caller who has been silent for a minute may make a minute's requests at once; then one is free again each
60 / limit seconds. Of each caller only one instant is kept: when all of that is free again.
"""

from datetime import datetime, timedelta
from threading import Lock

MINUTE = timedelta(minutes=1)

CALLERS_KEPT = 10_000
"""Callers that are remembered before those who have been silent for long are forgotten."""


class RateLimit:
    """Counts the requests of each caller. Any thread may call it."""

    def __init__(self, per_minute: int) -> None:
        """Args:
        per_minute: 0 for no limit.
        """
        self.per_minute = per_minute
        self._lock = Lock()
        self._free_at: dict[str, datetime] = {}

    def count(self, caller: str, now: datetime) -> timedelta | None:
        """Count a request, unless it is one too many; then return how long the caller has to wait."""
        if not self.per_minute:
            return None
        step = MINUTE / self.per_minute
        with self._lock:
            if caller not in self._free_at and len(self._free_at) >= CALLERS_KEPT:
                self._forget(now)
            # After a clock is put back no caller waits longer than for the next request.
            free_at = min(max(self._free_at.get(caller, now), now), now + MINUTE)
            pause = free_at + step - now - MINUTE
            self._free_at[caller] = free_at if pause > timedelta(0) else free_at + step
        return pause if pause > timedelta(0) else None

    def _forget(self, now: datetime) -> None:
        """Forget the callers who may make a minute's requests again, and at least half of all."""
        kept = sorted((at, caller) for caller, at in self._free_at.items() if at > now)
        self._free_at = {caller: at for at, caller in kept[-CALLERS_KEPT // 2 :]}
