"""A kind of leaf: what it needs to have counted, in three functions.

All see the deliveries that count at the leaf, in order of arrival. `since` is the moment at which
they came to be enough; as time alone adds none, a leaf that holds goes on holding for as long as it
may count them. `summary` says for people how far it has come, `needs` what is still to come.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers.collected import Collected, Scope
from tidegate.scheduler.decision.triggers.judged import Judged, verdict_on
from tidegate.scheduler.decision.triggers.spans import Span, Spans, always_from, union
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.verdict import Verdict

Deliveries = Sequence[Delivery]


class LeafKind(NamedTuple):
    """One kind of leaf; what it says to people may depend on the instant at which it is asked."""

    since: Callable[[Any, Deliveries, Collected], datetime | None]
    summary: Callable[[Any, Deliveries, Collected, datetime], str]
    needs: Callable[[Any, Deliveries, Collected, datetime], str]


def judge_leaf(kind: LeafKind, trigger: Trigger, path: str, scope: Scope) -> Judged:
    """When a leaf holds, of its own."""
    deliveries = scope.at(path)
    spans = always_from(kind.since(trigger, deliveries, scope.collected))

    def explain(as_of: datetime) -> Verdict:
        summary = kind.summary(trigger, deliveries, scope.collected, scope.now)
        needs = None if spans else kind.needs(trigger, deliveries, scope.collected, scope.now)
        return verdict_on(trigger, spans, as_of, summary, needs=needs)

    return Judged(spans=spans, evidence=lambda: evidence_of(path, deliveries, scope), explain=explain)


def evidence_of(path: str, deliveries: Deliveries, scope: Scope) -> Spans:
    """When something that came for a leaf counted: until it was too old."""
    limit = scope.limits.get(path)
    if limit is None:
        return always_from(deliveries[0].event.arrived if deliveries else None)
    arrivals = (delivery.event.arrived for delivery in deliveries)
    return union(Span(arrived, arrived + limit) for arrived in arrivals)
