"""`wait_at_most`: once it is over, the trigger holds with what has come (DESIGN rule 16).

It runs from the job's first event, of whichever member, and later events do not move it. An event
that a `collect_within` has dropped was none. A composite of which nothing has arrived never fires by
waiting; a leaf may, since its siblings' arrival is what its wait is counted from.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from compiler.duration import duration_text
from compiler.model import Composite, Trigger
from scheduler.triggers.collected import Sight
from scheduler.triggers.judged import Judged
from scheduler.triggers.spans import FOREVER, Span, Spans, always_from, next_start, overlap, span_at, union
from scheduler.verdict import Verdict

Limits = Mapping[str, timedelta | None]
"""How old what came for a leaf may be, by path, as the `collect_within` above it say; None is for ever."""


def waited(trigger: Trigger, path: str, sight: Sight, limits: Limits, inner: Judged) -> Judged:
    """The trigger with its `wait_at_most`.

    Args:
        inner: the same trigger without it.
    """
    if trigger.wait_at_most is None:
        return inner
    over = _over(trigger.wait_at_most, sight, limits)
    if isinstance(trigger, Composite):
        over = overlap((over, _something_came(trigger, path, sight)), 2)
    spans = union((*inner.spans, *over))
    text = duration_text(trigger.wait_at_most)

    def explain(view: datetime) -> Verdict:
        verdict = inner.explain(view)
        span = span_at(spans, view)
        if span is None:
            coming = next_start(spans, view)
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
            summary=f"{verdict.summary}; goes on with what has come after waiting {text}",
        )

    return Judged(spans=spans, explain=explain)


def _over(wait: timedelta, sight: Sight, limits: Limits) -> Spans:
    """When the wait is over: while the job has an event that is old enough, and not too old to count."""
    found: list[Span] = []
    for leaf, deliveries in sight.collected.by_leaf.items():
        limit = limits.get(leaf)
        for arrived in (delivery.event.arrived for delivery in deliveries):
            if arrived > sight.now or (limit is not None and wait > limit):
                break
            found.append(Span(arrived + wait, FOREVER if limit is None else arrived + limit))
            if limit is None:
                break
    return union(found)


def _something_came(trigger: Trigger, path: str, sight: Sight) -> Spans:
    stretch = trigger.collect_within
    if stretch is None:
        return always_from(sight.first_below(path))
    return union(Span(arrival, arrival + stretch) for arrival in sight.arrivals_below(path))
