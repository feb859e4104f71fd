"""`wait_at_most`: once it is over, the trigger holds with the events that have arrived (rule 16).

It counts from the first event that the job has, of any member; later events do not move it, and events
that a `collect_within` has dropped do not count. Evidence stays in the job, however old it is
(`scheduler.decision.triggers.in_job`). A composite without any arrival is never satisfied by
waiting; a leaf may be, since its wait counts from the arrivals of its siblings.
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Composite, Trigger
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.judged import Judged
from tidegate.scheduler.decision.triggers.spans import (
    FOREVER,
    Span,
    Spans,
    next_start,
    overlap,
    span_at,
    union,
)
from tidegate.scheduler.model.verdict import Verdict


def with_wait_at_most(trigger: Trigger, scope: Scope, inner: Judged) -> Judged:
    """Apply the `wait_at_most` of a trigger.

    Args:
        inner: the same trigger without it.
    """
    if trigger.wait_at_most is None:
        return inner
    over = _over(trigger.wait_at_most, scope)
    if isinstance(trigger, Composite):
        over = overlap((over, inner.evidence()), 2)
    spans = union((*inner.spans, *over))
    text = duration_text(trigger.wait_at_most)

    def explain(as_of: datetime) -> Verdict:
        verdict = inner.explain(as_of)
        span = span_at(spans, as_of)
        if span is None:
            coming = next_start(spans, as_of)
            checks = [check for check in (verdict.next_check, coming) if check is not None]
            return msgspec.structs.replace(verdict, next_check=min(checks, default=None), holds_at=coming)
        if verdict.met and verdict.since == span.start:
            return verdict
        return msgspec.structs.replace(
            verdict,
            met=True,
            since=span.start,
            next_check=None,
            holds_at=None,
            needs=None,
            reason=None,
            summary=f"{verdict.summary}; continues with the events so far after waiting {text}",
        )

    return Judged(spans=spans, evidence=inner.evidence, explain=explain)


def _over(wait: timedelta, scope: Scope) -> Spans:
    """Return when the wait is over: while the job has an event that is old enough."""
    if scope.collected.begins is not None:
        return (Span(scope.collected.begins + wait, FOREVER),)
    if scope.collected.tally is not None:
        return union(
            Span(count.first + wait, FOREVER)
            for leaf, count in scope.collected.tally.leaves.items()
            if (limit := scope.stays.get(leaf)) is None or wait <= limit
        )
    found: list[Span] = []
    for leaf in scope.collected.by_leaf:
        limit = scope.stays.get(leaf)
        if limit is not None and wait > limit:
            continue
        for arrived in (delivery.event.arrived for delivery in scope.in_job(leaf)):
            found.append(Span(arrived + wait, FOREVER if limit is None else arrived + limit))
            if limit is None:
                break
    return union(found)


def waits(trigger: Trigger) -> bool:
    """Return whether a trigger or one of its members has a `wait_at_most`, and may hold by waiting alone."""
    members = trigger.of if isinstance(trigger, Composite) else ()
    return trigger.wait_at_most is not None or any(waits(member) for member in members)


def without_waits(trigger: Trigger) -> Trigger:
    """Return a trigger without any `wait_at_most`: it holds only when it is whole."""
    if not waits(trigger):
        return trigger
    if isinstance(trigger, Composite):
        trigger = msgspec.structs.replace(trigger, of=tuple(without_waits(member) for member in trigger.of))
    return msgspec.structs.replace(trigger, wait_at_most=None)
