"""Tally: what a waiting job's trigger has counted so far, kept so that one more event costs the same always.

    events of the job ── decision.triggers.counting ──► tally ── one more event ──► tally
                                                         │
                          the trigger is evaluated from it, without the events

It says when each leaf had enough, and what it still has to count. It holds no texts: explanations make them
from the counts where these say all (`scheduler.explain.collected_events`), else from the events themselves.
A tally is a cache: it can be counted again from the events at any time.
"""

from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.value import Value

TalliedKeys = Mapping[tuple[str, str], int]
"""What each key adds to the amount of a leaf, by leaf and partition key; others add nothing.

Of a leaf that counts each period apart, also the amount of each period, by leaf and period. Of a trigger
whose events may stop counting, also how many events of a key count.
"""


OF_A_PERIOD = " of a period"
"""After the path of a leaf that counts each period apart: there its keys are the periods."""

EVENTS_OF_A_KEY = " events"
"""After the path of a leaf whose events may stop counting: there its keys have the number of their events."""


class LeafTally(Value, kw_only=True):
    """The count at one leaf.

    Attributes:
        first, newest: arrivals of the first and of the newest event that the job has at the leaf.
        counted: arrival of the first event that counts; None if none does. A `sequence` and a
            `collect_within` let only some of the events count.
        amount: what its events add up to: keys, events, bytes, rows or complete periods; it stays as it is
            once it was enough.
        since: when it was enough; None while it is not.
    """

    first: datetime
    newest: datetime
    counted: datetime | None = None
    amount: int = 0
    since: datetime | None = None


class Tally(Value, kw_only=True):
    """The counts of one job.

    Attributes:
        leaves: by path; only leaves with an event.
        last: for each part with a `quiet`, by path: the arrival from which its quiet time counts.
        came: for each `sequence`, by path: the first arrival that counts for it, in or out of turn. Only of
            triggers that wait, which alone depend on it.
        through: up to when everything is counted: the latest arrival, or a later instant at which events
            left the job.
        events: number of distinct events of the job.
        deliveries: number of its deliveries; an event has one at each leaf that collects it.
    """

    leaves: dict[str, LeafTally] = {}
    last: dict[str, datetime] = {}
    came: dict[str, datetime] = {}
    through: datetime | None = None
    events: int = 0
    deliveries: int = 0


class KeptTally(Value, kw_only=True):
    """A tally as the store keeps it.

    Attributes:
        basis: identifies what was counted by: the trigger, and which of its datasets have partitions.
    """

    job: str
    basis: str
    tally: Tally
