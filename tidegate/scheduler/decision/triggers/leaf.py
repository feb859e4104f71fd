"""A kind of leaf: four functions of the deliveries that count at the leaf, in order of arrival.

`read` goes through them once, as a job may have a hundred thousand, and the four get what it finds.
`since` returns the instant at which they became enough; a leaf that holds stays so for as long as
it may count them. `summary` describes the progress for people, `progress` in numbers, `needs` the
missing events.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers.collected import Collected, Scope
from tidegate.scheduler.decision.triggers.judged import Judged, verdict_on
from tidegate.scheduler.decision.triggers.spans import Span, Spans, always_from, union
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.records.tally import LeafTally
from tidegate.scheduler.model.verdict import Count, Verdict

Deliveries = Sequence[Delivery]


class Counting(NamedTuple):
    """How a kind of leaf counts its events one by one (`scheduler.decision.triggers.counting`).

    Attributes:
        wanted: returns the amount that is enough; None for a leaf that counts each period apart.
        amount: returns what one event adds.
        by_key: returns whether an event replaces what its partition key has added before.
        period: returns the period that an event belongs to, and how many keys it has: all of them are enough.
    """

    wanted: Callable[[Any], int | None]
    amount: Callable[[Any, Event], int]
    by_key: Callable[[Any, Collected], bool]
    period: Callable[[Any, Event, Collected], tuple[str, int]] | None = None


def one(trigger: Trigger, event: Event) -> int:
    """Return the amount of an event that counts as itself."""
    return 1


def each_event(trigger: Trigger, collected: Collected) -> bool:
    """Return that every event adds its amount, whatever its key has added before."""
    return False


def as_they_are(trigger: Trigger, deliveries: Deliveries, collected: Collected) -> Deliveries:
    """Return the deliveries."""
    return deliveries


class LeafKind(NamedTuple):
    """One kind of leaf; its texts for people may depend on the instant.

    Attributes:
        progress: None, or returns None, where nothing is counted.
        counting: None for a kind that always needs all events of the job.
        missing: returns the partition keys that it lacks, by name; None where it names none.
        read: returns what the functions are given of the deliveries.
        counted: returns the same of a leaf that has not enough, from its count and what is counted at its
            path, or None where they do not say it; None for a kind whose texts need the events.
    """

    since: Callable[[Any, Any, Collected], datetime | None]
    summary: Callable[[Any, Any, Collected, datetime], str]
    needs: Callable[[Any, Any, Collected, datetime], str]
    counting: Counting | None = None
    progress: Callable[[Any, Any, Collected], Count | None] | None = None
    missing: Callable[[Any, Any, Collected], tuple[str, ...] | None] | None = None
    read: Callable[[Any, Deliveries, Collected], Any] = as_they_are
    counted: Callable[[Any, LeafTally, str, Collected], Any] | None = None

    def enough_since(self, trigger: Any, deliveries: Deliveries, collected: Collected) -> datetime | None:
        """Return when some deliveries became enough; None if they are not."""
        return self.since(trigger, self.read(trigger, deliveries, collected), collected)


def judge_leaf(kind: LeafKind, trigger: Trigger, path: str, scope: Scope) -> Judged:
    """Evaluate a leaf without its options."""
    if scope.collected.tally is not None:
        return _judge_count(kind, trigger, path, scope)
    deliveries = scope.at(path)
    read = kind.read(trigger, deliveries, scope.collected)
    spans = always_from(kind.since(trigger, read, scope.collected))

    return Judged(
        spans=spans,
        evidence=lambda: evidence_of(path, deliveries, scope),
        explain=lambda as_of: _explained(kind, trigger, read, spans, scope, as_of),
    )


def _judge_count(kind: LeafKind, trigger: Trigger, path: str, scope: Scope) -> Judged:
    """Evaluate a leaf by its count, without texts unless there is what they are made from."""
    has = scope.collected
    count = None if has.tally is None else has.tally.leaves.get(path)
    spans = always_from(None if count is None else count.since)
    evidence = always_from(None if count is None else count.counted)

    def explain(as_of: datetime) -> Verdict:
        if has.counted_keys is None:
            return verdict_on(trigger, spans, as_of, "")
        if count is None or kind.counted is None:
            read = kind.read(trigger, (), has)
        else:
            read = kind.counted(trigger, count, path, has)
        return _explained(kind, trigger, read, spans, scope, as_of)

    return Judged(spans=spans, evidence=lambda: evidence, explain=explain)


def _explained(
    kind: LeafKind, trigger: Trigger, read: Any, spans: Spans, scope: Scope, as_of: datetime
) -> Verdict:
    """Return the verdict on a leaf with its texts, by what it has read."""
    summary = kind.summary(trigger, read, scope.collected, scope.now)
    needs = None if spans else kind.needs(trigger, read, scope.collected, scope.now)
    count = None if kind.progress is None else kind.progress(trigger, read, scope.collected)
    return verdict_on(trigger, spans, as_of, summary, needs=needs, count=count)


def evidence_of(path: str, deliveries: Deliveries, scope: Scope) -> Spans:
    """Return when any of a leaf's deliveries counts: from its arrival until it is too old."""
    limit = scope.limits.get(path)
    if limit is None:
        return always_from(deliveries[0].event.arrived if deliveries else None)
    arrivals = (delivery.event.arrived for delivery in deliveries)
    return union(Span(arrived, arrived + limit) for arrived in arrivals)
