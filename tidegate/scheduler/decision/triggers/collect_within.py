"""`collect_within`: older events drop out, one by one, and no longer count.

At any instant the trigger holds if the arrivals within the period before it are enough; an arrival
whose age is exactly the period still counts. So the trigger may start and stop holding, and its
spans are found by evaluating it again for every arrival that may be the oldest in scope.

    arrivals      a     b  c
    oldest is a   |=====|==|====a+w
    oldest is b         b  c    |====b+w          the same trigger, with the arrivals from b on

Of two such scopes the longer one never starts to hold later, since it has more arrivals; this lets
the search skip instants.
"""

from bisect import bisect_left
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

import msgspec

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Composite, Trigger
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.judged import Judged
from tidegate.scheduler.decision.triggers.spans import (
    TICK,
    Span,
    Spans,
    first_from,
    next_start,
    span_at,
    union,
)
from tidegate.scheduler.model.verdict import Verdict, earliest


def with_collect_within(
    trigger: Trigger, path: str, scope: Scope, judge: Callable[[Scope], Judged]
) -> Judged:
    """Apply the `collect_within` of a trigger.

    Args:
        judge: evaluates the same trigger without it, for a scope.
    """
    stretch = trigger.collect_within
    if stretch is None or scope.collected.tally is not None:
        # Counts are of the events that are young enough.
        return judge(scope)
    arrivals = scope.arrivals_below(path)

    @cache
    def counting(oldest: int) -> Judged:
        return judge(scope.since(path, arrivals[oldest]))

    spans = _spans(arrivals, stretch, lambda oldest: counting(oldest).spans)

    def evidence() -> Spans:
        if not keeps_evidence(trigger):
            return judge(scope).evidence()  # It is never older than the period allows.
        return _spans(arrivals, stretch, lambda oldest: counting(oldest).evidence())

    def explain(as_of: datetime) -> Verdict:
        recent = scope.since(path, as_of - stretch)
        verdict = judge(recent).explain(as_of)
        span, coming = span_at(spans, as_of), next_start(spans, as_of)
        summary = f"{verdict.summary}; only the last {duration_text(stretch)} count"
        if span is not None:
            return msgspec.structs.replace(verdict, met=True, since=span.start, needs=None, summary=summary)
        leaves = (arrival + stretch for arrival in recent.arrivals_below(path))
        out = next((instant for instant in leaves if instant > as_of), None)
        if out is not None:
            summary += f", the oldest event drops out at {out.isoformat()}"
        return msgspec.structs.replace(
            verdict, summary=summary, next_check=earliest((coming, out)), holds_at=coming
        )

    return Judged(spans=spans, evidence=evidence, explain=explain)


def keeps_evidence(trigger: Trigger) -> bool:
    """Return whether a part of a trigger may keep using events that are too old to count."""
    if trigger.quiet is not None:
        return True
    return isinstance(trigger, Composite) and (trigger.in_turn or any(map(keeps_evidence, trigger.of)))


def _spans(arrivals: tuple[datetime, ...], stretch: timedelta, counting: Callable[[int], Spans]) -> Spans:
    """Return when the trigger holds.

    Args:
        counting: returns when it would hold if the arrival of an index were the oldest in scope.
    """
    if not arrivals:
        return ()
    found: list[Span] = []
    instant = arrivals[0]
    while (oldest := bisect_left(arrivals, instant - stretch)) < len(arrivals):
        start = first_from(counting(oldest), instant)
        if start is None:
            break
        if start > arrivals[oldest] + stretch:
            instant = start
            continue
        end = _held_until(start, oldest, arrivals, stretch, counting)
        found.append(Span(start, end))
        instant = end + TICK
    return union(found)


def _held_until(
    start: datetime,
    oldest: int,
    arrivals: tuple[datetime, ...],
    stretch: timedelta,
    counting: Callable[[int], Spans],
) -> datetime:
    """Return until when it holds without a break from `start` on, by the latest scope that holds then."""

    def lost(index: int) -> bool:
        return span_at(counting(index), start) is None

    latest = bisect_left(range(len(arrivals)), True, lo=oldest + 1, key=lost) - 1
    end = max(span.end for span in counting(latest) if span.start <= start)
    return min(end, arrivals[latest] + stretch)
