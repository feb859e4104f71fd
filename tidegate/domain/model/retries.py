"""Retries of a schedule: how often, and after what pauses, the engine starts a failed run again (rule 26)."""

from datetime import timedelta

from tidegate.domain.back_off import back_off
from tidegate.domain.model.place import At
from tidegate.domain.value import Value


class Retries(Value, kw_only=True):
    """Further attempts of a job whose run failed.

    Attributes:
        max: number of further attempts.
        wait: pause between the end of a failed attempt and the next attempt.
        backoff: each pause is so many times as long as the one before; 1 keeps them equal.
    """

    max: int
    wait: timedelta = timedelta(0)
    backoff: float = 1.0
    at: At | None = None

    def pause(self, failed: int) -> timedelta:
        """Return the pause after a number of failed attempts, 1 or more."""
        return back_off(self.wait, failed, self.backoff)
