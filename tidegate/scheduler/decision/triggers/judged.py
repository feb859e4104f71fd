"""The evaluation of one part of a trigger: when it holds, and how to explain it.

Decisions use the spans. The verdict is made only on request, for a given instant; inside a
`sequence` or a `quiet` that may be a past one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.spans import Spans, next_start, span_at
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Count, Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """When a part of a trigger holds.

    Attributes:
        evidence: returns when at least one arrival that it may count exists.
        explain: returns its verdict as of an instant.
    """

    spans: Spans
    evidence: Callable[[], Spans]
    explain: Callable[[datetime], Verdict]


Member = Callable[[Trigger, str, Scope], Judged]
"""Evaluates a member of a composite: (member, path, scope)."""


def verdict_on(
    trigger: Trigger,
    spans: Spans,
    as_of: datetime,
    summary: str,
    *,
    parts: tuple[Verdict, ...] = (),
    reason: Reason | None = None,
    needs: str | None = None,
    count: Count | None = None,
) -> Verdict:
    """Return the verdict on a part that holds in these spans, as of an instant."""
    span = span_at(spans, as_of)
    coming = None if span is not None else next_start(spans, as_of)
    return Verdict(
        kind=trigger.kind,
        met=span is not None,
        summary=summary,
        since=None if span is None else span.start,
        next_check=coming,
        holds_at=coming,
        needs=None if span is not None else needs,
        reason=None if span is not None else reason,
        at=trigger.at,
        parts=parts,
        **({} if count is None else count._asdict()),
    )
