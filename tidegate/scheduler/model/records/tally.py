"""Tally: what a waiting job's trigger has counted so far, kept so that one more event costs the same always.

    events of the job ── decision.triggers.counting ──► tally ── one more event ──► tally
                                                         │
                          the trigger is evaluated from it, without the events

It says when each leaf had enough, and what it still has to count. It holds no texts: explanations are made
from the events themselves. A tally is a cache: it can be counted again from the events at any time.
"""

from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.value import Value

TalliedKeys = Mapping[tuple[str, str], int]
"""What each key adds to the amount of a leaf, by leaf and partition key; others add nothing.

Of a leaf that counts each period apart, also the amount of each period, by leaf and period.
"""


class LeafTally(Value, kw_only=True):
    """The count at one leaf.

    Attributes:
        first: arrival of its first event.
        amount: what its events add up to: keys, events, bytes or rows, or the most keys of a period; it stays
            as it is once it was enough.
        since: when it was enough; None while it is not.
    """

    first: datetime
    amount: int = 0
    since: datetime | None = None


class Tally(Value, kw_only=True):
    """The counts of one job.

    Attributes:
        leaves: by path; only leaves with an event.
        last: for each part with a `quiet`, by path: the arrival from which its quiet time counts.
        through: the latest arrival that is counted.
        events: number of distinct events of the job.
    """

    leaves: dict[str, LeafTally] = {}
    last: dict[str, datetime] = {}
    through: datetime | None = None
    events: int = 0


class KeptTally(Value, kw_only=True):
    """A tally as the store keeps it.

    Attributes:
        basis: identifies what was counted by: the trigger, and which of its datasets have partitions.
    """

    job: str
    basis: str
    tally: Tally
