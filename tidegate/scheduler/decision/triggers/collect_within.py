"""`collect_within`: what came longer ago drops out, one by one, and counts no more.

At any instant the trigger holds if what came within the stretch before it is enough; an arrival
whose age is exactly the stretch still counts. So it may come to hold and cease to, and its spans are
found by asking it again for every arrival that may be the oldest in scope.

    arrivals      a     b  c
    oldest is a   |=====|==|====a+w
    oldest is b         b  c    |====b+w          the same trigger, seeing what came from b on

Of two such sights the one that reaches further back never holds later (fewer arrivals are no
help), which lets the search leap.
"""

from bisect import bisect_left
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

import msgspec

from tidegate.domain.model import Composite, Trigger
from tidegate.domain.time.duration import duration_text
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
    """The trigger with its `collect_within`.

    Args:
        judge: judges the same trigger without it, by what is in scope.
    """
    stretch = trigger.collect_within
    if stretch is None:
        return judge(scope)
    arrivals = scope.arrivals_below(path)

    @cache
    def counting(oldest: int) -> Judged:
        return judge(scope.since(path, arrivals[oldest]))

    spans = _spans(arrivals, stretch, lambda oldest: counting(oldest).spans)

    def evidence() -> Spans:
        if not keeps_evidence(trigger):
            return judge(scope).evidence()  # Which is never older than any stretch allows.
        return _spans(arrivals, stretch, lambda oldest: counting(oldest).evidence())

    def explain(as_of: datetime) -> Verdict:
        seen = scope.since(path, as_of - stretch)
        verdict = judge(seen).explain(as_of)
        span, coming = span_at(spans, as_of), next_start(spans, as_of)
        summary = f"{verdict.summary}; counted are the last {duration_text(stretch)}"
        if span is not None:
            return msgspec.structs.replace(verdict, met=True, since=span.start, needs=None, summary=summary)
        leaves = (arrival + stretch for arrival in seen.arrivals_below(path))
        out = next((instant for instant in leaves if instant > as_of), None)
        if out is not None:
            summary += f", the oldest drops out at {out.isoformat()}"
        return msgspec.structs.replace(
            verdict, summary=summary, next_check=earliest((coming, out)), holds_at=coming
        )

    return Judged(spans=spans, evidence=evidence, explain=explain)


def keeps_evidence(trigger: Trigger) -> bool:
    """Whether some part of a trigger may go on resting on what is too old to count."""
    if trigger.quiet is not None:
        return True
    return isinstance(trigger, Composite) and (trigger.in_turn or any(map(keeps_evidence, trigger.of)))


def _spans(arrivals: tuple[datetime, ...], stretch: timedelta, counting: Callable[[int], Spans]) -> Spans:
    """When it holds.

    Args:
        counting: when it would if this were the oldest arrival in scope, by its place.
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
    """Until when it holds without a break from `start` on, as the latest scope that holds then knows."""

    def lost(index: int) -> bool:
        return span_at(counting(index), start) is None

    latest = bisect_left(range(len(arrivals)), True, lo=oldest + 1, key=lost) - 1
    end = max(span.end for span in counting(latest) if span.start <= start)
    return min(end, arrivals[latest] + stretch)
