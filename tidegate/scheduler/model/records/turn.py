"""Turns: jobs that are still to be decided at an instant, in launch order (`scheduler.tick.unfinished`)."""

from datetime import datetime
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class Known(StrEnum):
    """What is known of a decision before its turn, and would not be found again.

    Attributes:
        TIMED_OUT: an instance is discarded, though an upstream instance has ended at the instant since.
        POSTPONED: an error has postponed it.
    """

    TIMED_OUT = "timed out"
    POSTPONED = "postponed"


class Turn(Value, kw_only=True):
    """A job that is still to be decided at an instant.

    Attributes:
        job: its id.
        at: the instant.
        rank: its place in launch order.
        queue: that it was read from; None for a job that was due itself.
        known: None where the decision is made at its turn.
    """

    job: str
    at: datetime
    rank: str
    queue: str | None = None
    known: Known | None = None


TURNS = Kind(name="turns", value=Turn, key=("job",), order=("rank", "job"), due="at")
