"""The verdict on one part of a schedule: does it hold, since when, and if not, what would help.

Every trigger and every constraint answers with one. The engine acts on the flags and the
instants; `tidegate why` prints the same tree, so the two cannot disagree.
"""

from collections.abc import Iterable
from datetime import datetime

from tidegate.domain.model import At
from tidegate.domain.value import Value
from tidegate.scheduler.model.reason import Reason


class Verdict(Value, kw_only=True):
    """What one trigger or constraint says at one instant.

    Attributes:
        kind: the word of the YAML: partitions, all, window, ...
        met: it holds.
        summary: for people, for example "2 of 3 partitions of raw_flights".
        since: when it came to hold, where that is known.
        next_check: for an unmet part, the earliest instant at which time alone may change it.
        holds_at: for an unmet trigger, the instant at which it will hold if nothing more arrives;
            None where something must arrive.
        blocked_on: for an unmet part, the resource whose freeing may change it.
        needs: for an unmet leaf of a trigger, what would have to come.
        reason: for an unmet constraint, the code of a job that waits for it; for an unmet trigger W-QUIET,
            if that is all it waits for.
        discard: for an unmet constraint that says `skip`, the code of a job that is given up for it.
        at: its place in the YAML.
        parts: the members of a composite.
    """

    kind: str
    met: bool
    summary: str
    since: datetime | None = None
    next_check: datetime | None = None
    holds_at: datetime | None = None
    needs: str | None = None
    blocked_on: str | None = None
    reason: Reason | None = None
    discard: Reason | None = None
    at: At | None = None
    parts: tuple["Verdict", ...] = ()


def earliest(instants: Iterable[datetime | None]) -> datetime | None:
    """The first of the instants that are there."""
    return min((i for i in instants if i is not None), default=None)
