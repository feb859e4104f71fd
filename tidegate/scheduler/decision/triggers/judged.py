"""What is found out about one part of a trigger: when it holds, and how to tell that to a person.

The spans are what decisions rest on. The verdict is made only when somebody asks, for the instant
from which they look: inside a `sequence` or a `quiet` that may be one which has passed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.spans import Spans, next_start, span_at
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """When a part of a trigger holds.

    Attributes:
        evidence: when something that it may count has come, however little that is; found out only
            when somebody asks.
        explain: gives its verdict as of an instant.
    """

    spans: Spans
    evidence: Callable[[], Spans]
    explain: Callable[[datetime], Verdict]


Member = Callable[[Trigger, str, Scope], Judged]
"""Judges a member of a composite: (the member, its path, what it may count)."""


def verdict_on(
    trigger: Trigger,
    spans: Spans,
    as_of: datetime,
    summary: str,
    *,
    parts: tuple[Verdict, ...] = (),
    reason: Reason | None = None,
    needs: str | None = None,
) -> Verdict:
    """The verdict on a part that holds in these spans, as of `as_of`."""
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
    )
