"""The verdict on one part of a schedule: whether it is met, since when, and what is missing.

Every trigger and every constraint returns one. The engine acts on its flags and instants;
`tidegate why` prints the same tree, so the two cannot disagree.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tidegate.domain.model import At
from tidegate.domain.value import Value
from tidegate.scheduler.model.reason import Reason


class Count(NamedTuple):
    """How far a condition is that counts.

    Attributes:
        have: what counts so far; more than `need` where more has come.
        need: what is enough.
        unit: what is counted, in the plural.
    """

    have: int
    need: int
    unit: str


class Verdict(Value, kw_only=True):
    """The result of one trigger or constraint at one instant.

    Attributes:
        kind: its key in the YAML: partitions, all, window, ...
        met: whether it is satisfied.
        summary: for people, for example "2 of 3 partitions of raw_flights".
        since: when it became satisfied, if known.
        next_check: if unmet, the earliest instant at which time alone may change it.
        holds_at: for an unmet trigger, the instant at which it is satisfied if no event arrives;
            None if an event must arrive.
        blocked_on: if unmet, the resource whose release may change it.
        needs: for an unmet leaf of a trigger, the missing events.
        reason: for an unmet constraint, the code of a job that waits for it; W-QUIET for a trigger that
            waits only for its `quiet`.
        discard: for an unmet constraint that says `skip`, the code of a job that it discards.
        at: its position in the YAML.
        parts: the verdicts of a composite's members.
        have: of a condition that counts: what counts so far, also more than it needs.
        need: of a condition that counts: what is enough.
        unit: of a condition that counts, in the plural: partitions, parts (of a period), writes, rows, bytes,
            runs or members.
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
    have: int | None = None
    need: int | None = None
    unit: str | None = None


def earliest(instants: Iterable[datetime | None]) -> datetime | None:
    """Return the earliest of the instants that are not None."""
    return min((i for i in instants if i is not None), default=None)
